"""The planted mistakes: for each rule the slip that a tired person would make.

Every entry names the test that must notice. A rule that is rewritten takes its mutant along.
"""

from __future__ import annotations

from tests.unit.domain.mutants.planting import Mutant

_FADING = (
    Mutant(
        name="decay-drops-a-level-late",
        file="decay.py",
        source="if weight > bound",
        replacement="if weight >= bound",
        killer="test_decay.py::test_a_block_at_exactly_a_bound_has_already_fallen",
        why="the bounds are strict: at exactly 0.5 a block has fallen",
    ),
    Mutant(
        name="decay-goes-below-the-title",
        file="decay.py",
        source="min(DEEPEST, max(0, anchor_level - drop))",
        replacement="min(DEEPEST, anchor_level - drop)",
        killer="test_decay.py::test_a_block_never_grows_deeper_by_itself",
        why="level -1 names no view: every old block would be an error",
    ),
    Mutant(
        name="weight-fades-at-another-rate",
        file="weights.py",
        source="_BASE_RATE = 0.15",
        replacement="_BASE_RATE = 0.16",
        killer="test_weights.py::test_the_weight_is_the_formula_worked_by_hand",
        why="weights are compared across releases and with the reference",
    ),
    Mutant(
        name="weight-rewards-use-less",
        file="weights.py",
        source="_USE_FACTOR = 1.5",
        replacement="_USE_FACTOR = 1.4",
        killer="test_weights.py::test_the_weight_is_the_formula_worked_by_hand",
        why="use slows fading by exactly 1.5 ln n",
    ),
    Mutant(
        name="weight-floor-lifts-a-superseded-event",
        file="weights.py",
        source="""\
    weight = max(FLOORS[criticality], math.exp(-rate * max(0, age_turns)))
    return min(weight, SUPERSEDED_CAP) if status is EventStatus.SUPERSEDED else weight
""",
        replacement="""\
    weight = math.exp(-rate * max(0, age_turns))
    weight = min(weight, SUPERSEDED_CAP) if status is EventStatus.SUPERSEDED else weight
    return max(FLOORS[criticality], weight)
""",
        killer="test_weights.py::test_case_gate_07_floors_caps_and_impossible_counts",
        why="a superseded safety event would outweigh the one that corrects it",
    ),
    Mutant(
        name="weight-cap-is-higher",
        file="weights.py",
        source="SUPERSEDED_CAP: Final = 0.1",
        replacement="SUPERSEDED_CAP: Final = 0.2",
        killer="test_weights.py::test_a_superseded_event_weighs_a_tenth_at_most",
        why="the cap is 0.1 (D14)",
    ),
    Mutant(
        name="weight-pin-revives-the-forgotten",
        file="weights.py",
        source="""\
    if status in _SET_ASIDE:
        return 0.0
    if pinned:
        return 1.0
""",
        replacement="""\
    if pinned:
        return 1.0
    if status in _SET_ASIDE:
        return 0.0
""",
        killer="test_weights.py::test_what_is_set_aside_weighs_nothing_even_when_pinned",
        why="a forgotten event would come back because it was pinned once",
    ),
)

_LAYERS = (
    Mutant(
        name="paste-must-be-longer-than-eighty",
        file="layers.py",
        source=">= _PASTE_LENGTH",
        replacement="> _PASTE_LENGTH",
        killer="test_layers.py::test_eighty_characters_make_a_paste_and_one_less_does_not",
        why="the paragraph of exactly 80 characters is a paste",
    ),
    Mutant(
        name="tool-summary-is-longer",
        file="tool_json.py",
        source="_TEXT_LIMIT = 160",
        replacement="_TEXT_LIMIT = 161",
        killer="test_tool_json.py::test_a_result_is_told_in_a_few_words",
        why="summaries end at 160 characters",
    ),
    Mutant(
        name="tool-error-is-longer",
        file="tool_json.py",
        source="_ERROR_LIMIT = 140",
        replacement="_ERROR_LIMIT = 160",
        killer="test_tool_json.py::test_a_result_is_told_in_a_few_words",
        why="errors end at 140 characters, for 'failed: ' stands before them",
    ),
    Mutant(
        name="estimate-rounds-down",
        file="budget.py",
        source="-(-run // CHARS_PER_TOKEN)",
        replacement="run // CHARS_PER_TOKEN",
        killer="test_budget.py::test_a_token_is_counted_for_every_four_characters_begun",
        why="short texts would cost nothing and prompts would overflow the model",
    ),
    Mutant(
        name="tool-text-keeps-more-of-its-head",
        file="derivation.py",
        source="_TOOL_TEXT_LIMIT * 6 // 10",
        replacement="_TOOL_TEXT_LIMIT * 7 // 10",
        killer="test_derivation.py::test_people_and_models_are_kept_whole_and_tool_texts_cut_in_the_middle",
        why="a long tool text keeps its first 1440 characters",
    ),
    Mutant(
        name="tool-text-keeps-less-of-its-tail",
        file="derivation.py",
        source="_TOOL_TEXT_LIMIT * 2 // 10",
        replacement="_TOOL_TEXT_LIMIT // 10",
        killer="test_derivation.py::test_people_and_models_are_kept_whole_and_tool_texts_cut_in_the_middle",
        why="a long tool text keeps its last 480 characters, where errors stand",
    ),
    Mutant(
        name="sealing-stops-after-one-block",
        file="sealing.py",
        source="full = open_turns // block_turn_size",
        replacement="full = min(1, open_turns // block_turn_size)",
        killer="test_sealing.py::test_the_tail_is_sealed_until_it_is_shorter_than_the_size",
        why="a smaller block size would take effect turn by turn only (D40)",
    ),
)

_SEARCH = (
    Mutant(
        name="fusion-counts-ranks-from-nought",
        file="fusion.py",
        source="dict.fromkeys(ranking), start=1",
        replacement="dict.fromkeys(ranking), start=0",
        killer="test_fusion.py::test_ranks_add_up_as_reciprocals_of_sixty_more",
        why="the first place counts 1/61",
    ),
    Mutant(
        name="idf-forgets-a-half",
        file="bm25.py",
        source="/ (frequency + 0.5)",
        replacement="/ (frequency + 1.0)",
        killer="test_bm25.py::test_the_score_is_the_formula_worked_by_hand",
        why="idf is the formula of the reference",
    ),
    Mutant(
        name="window-loses-its-last-instant",
        file="event_filters.py",
        source="first <= self.end",
        replacement="first < self.end",
        killer="test_event_filters.py::test_a_day_is_the_day_of_the_events_own_zone",
        why="both ends of a window are inside it",
    ),
    Mutant(
        name="window-loses-its-first-instant",
        file="event_filters.py",
        source="last >= self.start",
        replacement="last > self.start",
        killer="test_event_filters.py::test_equal_instants_filter_equally_and_include_the_instant_itself",
        why="both ends of a window are inside it",
    ),
    Mutant(
        name="statuses-show-the-forgotten",
        file="event_filters.py",
        source="wanted.statuses & VISIBLE_STATUSES",
        replacement="wanted.statuses",
        killer="test_event_filters.py::test_what_was_set_aside_never_passes_even_when_asked_for",
        why="a search could ask for what a person made us forget",
    ),
)

_GATE = (
    Mutant(
        name="gate-takes-a-ninth-ref",
        file="gate.py",
        source="len(accepted) >= MAX_REFS",
        replacement="len(accepted) > MAX_REFS",
        killer="test_gate.py::test_the_ninth_ref_is_one_too_many",
        why="at most eight refs an assessment",
    ),
    Mutant(
        name="gate-remembers-only-accepted-refs",
        file="gate.py",
        source="if isinstance(item, str):\n            seen.add(item)",
        replacement="if reason is None:\n            seen.add(item)",
        killer="test_gate.py::test_each_rejected_ref_tells_its_place_and_reason",
        why="a ref that was rejected before is a duplicate the second time",
    ),
    Mutant(
        name="gate-is-sufficient-without-evidence",
        file="gate.py",
        source="bool(accepted) and strategy is Strategy.ANSWER",
        replacement="strategy is Strategy.ANSWER",
        killer="test_gate.py::test_sufficient_needs_verdict_evidence_and_answer_together",
        why="an agent could answer from nothing",
    ),
    Mutant(
        name="gate-is-sufficient-without-answering",
        file="gate.py",
        source="bool(accepted) and strategy is Strategy.ANSWER",
        replacement="bool(accepted)",
        killer="test_gate.py::test_sufficient_needs_verdict_evidence_and_answer_together",
        why="who still wants to search has not enough",
    ),
    Mutant(
        name="use-needs-no-assessment",
        file="gate.py",
        source="return None if ref in adopted_refs else Rejection.NOT_ADOPTED",
        replacement="return None",
        killer="test_gate.py::test_use_needs_adopted_refs_of_this_batch",
        why="using evidence needs a sufficient assessment of that batch (D25)",
    ),
)

_EVENTS = (
    Mutant(
        name="supersession-reaches-the-forgotten",
        file="supersession.py",
        source="if events[target].status not in _VISIBLE:",
        replacement="if events[target].status is EventStatus.ARCHIVED:",
        killer="test_supersession.py::test_nothing_else_is_touched_and_each_refusal_is_told",
        why="a forgotten event would become visible again, as superseded (D14)",
    ),
    Mutant(
        name="supersession-goes-by-arrival",
        file="supersession.py",
        source="target.said_at > new.said_at",
        replacement="target.said_at < new.said_at",
        killer="test_supersession.py::test_an_older_statement_that_arrives_late_does_not_replace_a_newer_one",
        why="an old statement that arrives late would replace a newer one (D16)",
    ),
    Mutant(
        name="supersession-refuses-the-same-instant",
        file="supersession.py",
        source="target.said_at > new.said_at",
        replacement="target.said_at >= new.said_at",
        killer="test_supersession.py::test_a_correction_of_the_same_message_supersedes",
        why="'on Monday, no, on Tuesday' is said in one message",
    ),
    Mutant(
        name="supersession-takes-ids-not-offered",
        file="supersession.py",
        source="if target not in offered:",
        replacement="if not offered:",
        killer="test_supersession.py::test_nothing_else_is_touched_and_each_refusal_is_told",
        why="a model could name any id it ever saw",
    ),
    Mutant(
        name="sources-may-be-foreign",
        file="provenance.py",
        source="legal=tuple(one for one in unique if one in allowed)",
        replacement="legal=unique",
        killer="test_provenance.py::test_only_evidence_of_the_target_is_a_legal_source",
        why="only messages of the target block are legal sources (D10)",
    ),
    Mutant(
        name="system-text-is-evidence",
        file="provenance.py",
        source="message.role is not Role.SYSTEM and ",
        replacement="",
        killer="test_provenance.py::test_only_evidence_of_the_target_is_a_legal_source",
        why="a persona's instructions would become facts of the user",
    ),
    Mutant(
        name="import-is-sure-at-less",
        file="external_memory_decide.py",
        source="sure < SURE",
        replacement="sure <= SURE",
        killer="test_external_memory.py::test_imp_04_unsure_decisions_wait",
        why="decisions below 0.85 wait for a person, 0.85 does not",
    ),
)

_TIME = (
    Mutant(
        name="week-begins-on-sunday",
        file="temporal/arithmetic.py",
        source="monday = of - timedelta(days=of.weekday())",
        replacement="monday = of - timedelta(days=(of.weekday() + 1) % 7)",
        killer="test_temporal_english.py::test_a_stretch_has_inclusive_ends",
        why="a week is Monday to Sunday",
    ),
    Mutant(
        name="week-ends-a-day-late",
        file="temporal/arithmetic.py",
        source="span(monday, monday + timedelta(days=6))",
        replacement="span(monday, monday + timedelta(days=7))",
        killer="test_temporal_english.py::test_a_stretch_has_inclusive_ends",
        why="ends are inclusive: the next Monday is another week",
    ),
)

_GRAPH = (
    Mutant(
        name="graph-orders-by-happening-alone",
        file="graph_timeline.py",
        source="return (min(holds_from(event), event.said_at), event.said_at, event.id)",
        replacement="return (max(holds_from(event), event.said_at), event.said_at, event.id)",
        killer="test_graph_fold.py::test_a_later_word_overrides_what_was_announced_earlier",
        why="something announced for later would override all that is said before it",
    ),
    Mutant(
        name="graph-goes-by-arrival",
        file="graph_timeline.py",
        source="ordered = sorted(claims, key=lambda c: (c.order, c.value, c.record_id))",
        replacement="ordered = list(claims)",
        killer="test_graph_order.py::test_the_latest_word_holds_however_the_claims_are_handed_over",
        why="an older statement that arrives late would replace a newer one (D16)",
    ),
    Mutant(
        name="graph-closes-many-edges",
        file="graph_timeline.py",
        source='closes=e.cardinality == "one"',
        replacement="closes=True",
        killer="test_graph_fold.py::test_edges_are_many_unless_the_proposal_says_one",
        why="'uses git' would be closed by 'uses npm' (D17)",
    ),
)

_EDGES = (
    Mutant(
        name="bearer-must-be-longer",
        file="secret_formats.py",
        source="[A-Za-z0-9._~+/-]{12,}",
        replacement="[A-Za-z0-9._~+/-]{13,}",
        killer="test_redaction.py::test_a_credential_goes_from_its_twelfth_sign_on",
        why="twelve signs behind 'Bearer' are a credential",
    ),
    Mutant(
        name="backoff-doubles-too-early",
        file="jobs.py",
        source="2.0 ** (attempt - 1)",
        replacement="2.0**attempt",
        killer="test_jobs.py::test_the_pause_after_an_attempt_is_one_second_then_twice_the_last",
        why="the pauses are 1 s and 2 s (D36)",
    ),
    Mutant(
        name="a-fourth-attempt",
        file="jobs.py",
        source="job.attempt < job.max_attempts",
        replacement="job.attempt <= job.max_attempts",
        killer="test_jobs.py::test_no_attempt_follows_the_third",
        why="at most three attempts a job",
    ),
    Mutant(
        name="refused-is-tried-again",
        file="jobs.py",
        source="(FailureClass.PERMANENT, FailureClass.REFUSED)",
        replacement="(FailureClass.PERMANENT,)",
        killer="test_jobs.py::test_another_attempt_follows_where_it_could_end_differently",
        why="a model that refused would be asked and paid three times",
    ),
    Mutant(
        name="stages-reset-each-other",
        file="tenancy.py",
        source='replace(policy.stages, **values["stages"])',
        replacement='Stages(**values["stages"])',
        killer="test_tenancy.py::test_stages_are_laid_over_each_other_one_by_one",
        why="switching one stage of a namespace would undo the tenant's others (D46)",
    ),
    Mutant(
        name="an-assistant-makes-a-turn",
        file="turns.py",
        source="message.role is Role.USER and ",
        replacement="",
        killer="test_turns.py::test_without_a_person_who_says_something_there_is_no_turn",
        why="a turn must contain a human message (D41)",
    ),
)

MUTANTS = (*_FADING, *_LAYERS, *_SEARCH, *_GATE, *_EVENTS, *_TIME, *_GRAPH, *_EDGES)
