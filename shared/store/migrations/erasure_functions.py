"""The database functions of erasure, as migration 0013 makes them.

They alone delete source text. Each names its tenant in every statement and pins its search path.
"""

from __future__ import annotations

from shared.store.migrations.erasure_hashes import HASHING

_CASCADE = """
    CREATE FUNCTION erase_rows(victim regclass, which text, counts jsonb) RETURNS jsonb
    LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
    DECLARE
        child record;
        gone bigint;
        named text := victim::text;
    BEGIN
        FOR child IN
            SELECT c.conrelid::regclass AS name,
                (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.n)
                 FROM unnest(c.conkey) WITH ORDINALITY AS k(num, n)
                 JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = k.num) AS own,
                (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY k.n)
                 FROM unnest(c.confkey) WITH ORDINALITY AS k(num, n)
                 JOIN pg_attribute AS a ON a.attrelid = c.confrelid AND a.attnum = k.num) AS theirs
            FROM pg_constraint AS c
            WHERE c.contype = 'f' AND c.confrelid = victim AND c.conrelid <> victim
            ORDER BY c.conrelid::regclass::text, c.conname
        LOOP
            counts := public.erase_rows(child.name, format('(%s) IN (SELECT %s FROM %s WHERE %s)',
                child.own, child.theirs, victim, which), counts);
        END LOOP;
        EXECUTE format('DELETE FROM %s WHERE %s', victim, which);
        GET DIAGNOSTICS gone = ROW_COUNT;
        IF gone > 0 THEN
            counts := counts || jsonb_build_object(named, coalesce((counts ->> named)::bigint, 0)
                + gone);
        END IF;
        RETURN counts;
    END $$
"""
_ERASE = """
    CREATE FUNCTION erase_sources(erasure text, work jsonb) RETURNS jsonb
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
    DECLARE
        tenant text := nullif(current_setting('app.tenant', true), '');
        space text;
        counts jsonb := '{}';
    BEGIN
        SELECT e.namespace INTO space FROM public.erasures AS e
        WHERE e.tenant_id = tenant AND e.erasure_id = erasure AND e.state = 'running';
        IF space IS NULL THEN RAISE EXCEPTION 'no such erasure is running'; END IF;
        IF work ? 'rows' THEN
            counts := public.erase_part(tenant, space, erasure, work -> 'rows');
        END IF;
        IF work ? 'rebuilt' THEN
            PERFORM public.rebuild_blocks(tenant, space, work -> 'rebuilt');
        END IF;
        IF work ? 'scrub' THEN
            PERFORM public.scrub_records(tenant, space, erasure, work -> 'scrub');
        END IF;
        IF work ? 'thread' THEN
            counts := public.erase_rows('public.threads', format(
                'tenant_id = %L AND namespace = %L AND thread_id = %L AND NOT EXISTS (SELECT '
                'FROM public.turns AS t WHERE t.tenant_id = threads.tenant_id AND t.namespace = '
                'threads.namespace AND t.thread_id = threads.thread_id)',
                tenant, space, work ->> 'thread'), counts);
        END IF;
        IF work ? 'namespace' THEN
            counts := public.erase_namespace(tenant, space, erasure,
                (work ->> 'namespace')::integer);
        END IF;
        RETURN counts;
    END $$
"""
# rows: {turns, blocks, events: [id], kept: [{event_id, block_id, thread_id, formed_turn,
# mentioned_at, zone, quotes}]}; an event that is kept rests on what is left.
_PART = """
    CREATE FUNCTION erase_part(tenant text, space text, erasure text, part jsonb) RETURNS jsonb
    LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
    DECLARE
        turn_ids text[] := ARRAY(SELECT t.turn_id FROM public.turns AS t
            WHERE t.tenant_id = tenant AND t.namespace = space AND t.turn_id IN (
                SELECT jsonb_array_elements_text(part -> 'turns')));
        block_ids text[] := ARRAY(SELECT b.block_id FROM public.blocks AS b
            WHERE b.tenant_id = tenant AND b.namespace = space AND b.block_id IN (
                SELECT jsonb_array_elements_text(part -> 'blocks')));
        event_ids text[] := ARRAY(SELECT e.event_id FROM public.events AS e
            WHERE e.tenant_id = tenant AND e.namespace = space AND e.event_id IN (
                SELECT jsonb_array_elements_text(part -> 'events')));
        -- The text of an import is no turn of the namespace's clock, which counts from 1.
        counted bigint := (SELECT count(*) FROM public.turns AS t
            WHERE t.tenant_id = tenant AND t.turn_id = ANY(turn_ids) AND t.namespace_turn > 0);
        counts jsonb := '{}';
        gone bigint;
    BEGIN
        INSERT INTO public.tombstones (tenant_id, kind, hash, erasure_id)
        SELECT tenant, split_part(g.id, '_', 1), public.erasure_hash_of(tenant, g.id), erasure
        FROM (SELECT unnest(turn_ids || block_ids || event_ids) UNION ALL
              SELECT m.message_id FROM public.messages AS m
              WHERE m.tenant_id = tenant AND m.turn_id = ANY(turn_ids)) AS g(id)
        ON CONFLICT DO NOTHING;
        INSERT INTO public.tombstones (tenant_id, kind, hash, erasure_id)
        SELECT tenant, 'receipt', public.erasure_hash_of(tenant,
            concat_ws(chr(31), space, 'turn', t.receipt_id)), erasure
        FROM public.turns AS t
        WHERE t.tenant_id = tenant AND t.turn_id = ANY(turn_ids) AND t.receipt_id IS NOT NULL
        ON CONFLICT DO NOTHING;
        DELETE FROM public.request_receipts AS r
        USING public.turns AS t
        WHERE t.tenant_id = tenant AND t.turn_id = ANY(turn_ids) AND r.tenant_id = tenant
          AND r.namespace = space AND r.operation = 'turn' AND r.receipt_id = t.receipt_id;
        GET DIAGNOSTICS gone = ROW_COUNT;
        IF gone > 0 THEN counts := jsonb_build_object('request_receipts', gone); END IF;
        UPDATE public.events AS e SET superseded_by = NULL, updated_at = now(),
            status = CASE e.status WHEN 'superseded' THEN 'active' ELSE e.status END,
            status_before = CASE e.status_before WHEN 'superseded' THEN 'active'
                ELSE e.status_before END
        WHERE e.tenant_id = tenant AND e.namespace = space AND e.superseded_by = ANY(event_ids);
        UPDATE public.carried_events AS c SET superseded_by = NULL
        WHERE c.tenant_id = tenant AND c.namespace = space AND c.superseded_by = ANY(event_ids);
        UPDATE public.events AS e SET block_id = k.block_id, thread_id = k.thread_id,
            formed_turn = k.formed_turn, mentioned_at = k.mentioned_at, zone = k.zone,
            quotes = k.quotes, narrative = NULL, updated_at = now()
        FROM jsonb_to_recordset(part -> 'kept') AS k(event_id text, block_id text, thread_id text,
            formed_turn bigint, mentioned_at timestamptz, zone text, quotes jsonb)
        WHERE e.tenant_id = tenant AND e.namespace = space AND e.event_id = k.event_id;
        UPDATE public.audit_log AS a SET detail = '{"erased": true}'
        WHERE a.tenant_id = tenant AND (a.subject = ANY(turn_ids || block_ids || event_ids)
            OR a.subject IN (SELECT c.conflict_id FROM public.conflicts AS c
                WHERE c.tenant_id = tenant AND c.namespace = space
                  AND (c.event_id = ANY(event_ids) OR c.other_event_id = ANY(event_ids))));
        PERFORM public.erase_of_imports(tenant, space, block_ids, event_ids);
        UPDATE public.threads AS h SET erased_turn_count = erased_turn_count + g.turns,
            erased_block_count = erased_block_count + g.blocks,
            block_count = block_count - g.blocks, ready_count = ready_count - g.ready
        FROM (
            SELECT u.thread_id, sum(u.turns) AS turns, sum(u.blocks) AS blocks,
                sum(u.ready) AS ready
            FROM (SELECT t.thread_id, 1 AS turns, 0 AS blocks, 0 AS ready FROM public.turns AS t
                  WHERE t.tenant_id = tenant AND t.turn_id = ANY(turn_ids) UNION ALL
                  SELECT s.thread_id, 0, 1, (s.status = 'ready')::integer
                  FROM public.block_states AS s
                  WHERE s.tenant_id = tenant AND s.block_id = ANY(block_ids)) AS u
            GROUP BY u.thread_id) AS g
        WHERE h.tenant_id = tenant AND h.namespace = space AND h.thread_id = g.thread_id;
        counts := public.erase_rows('public.events', format('tenant_id = %L AND event_id = '
            'ANY(%L::text[])', tenant, event_ids), counts);
        counts := public.erase_rows('public.turns', format('tenant_id = %L AND turn_id = '
            'ANY(%L::text[])', tenant, turn_ids), counts);
        counts := public.erase_rows('public.blocks', format('tenant_id = %L AND block_id = '
            'ANY(%L::text[])', tenant, block_ids), counts);
        -- A tail of which nothing is left is not open any more.
        UPDATE public.threads AS h SET sealed_turn_count = turn_count
        WHERE h.tenant_id = tenant AND h.namespace = space AND h.erased_turn_count > 0
          AND h.sealed_turn_count < h.turn_count AND NOT EXISTS (
            SELECT FROM public.turns AS t WHERE t.tenant_id = tenant AND t.namespace = space
              AND t.thread_id = h.thread_id AND t.sequence > h.sealed_turn_count);
        UPDATE public.namespaces AS n SET revision = revision + 1,
            erased_turn_count = erased_turn_count + counted,
            erased_block_count = erased_block_count + cardinality(block_ids)
        WHERE n.tenant_id = tenant AND n.namespace = space;
        RETURN counts;
    END $$
"""
# rebuilt: [{block_id, formed_turn, started_at, ended_at, layers: {"3": [text, tokens], …}}]
# An import whose source goes keeps that it was there; what others showed of an event goes too.
_IMPORTS = """
    CREATE FUNCTION erase_of_imports(tenant text, space text, block_ids text[], event_ids text[])
    RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
    DECLARE
        emptied text[] := ARRAY(SELECT i.import_id FROM public.imports AS i
            WHERE i.tenant_id = tenant AND i.namespace = space
              AND i.source_block_id = ANY(block_ids));
    BEGIN
        UPDATE public.imports AS i SET content = '', skipped = '[]'
        WHERE i.tenant_id = tenant AND i.import_id = ANY(emptied);
        UPDATE public.import_candidates AS c SET candidate = '{}', fingerprint = '',
            matches = '[]', answer = NULL,
            decision = c.decision || '{"reason": null, "merged": null}'
        WHERE c.tenant_id = tenant AND c.import_id = ANY(emptied);
        UPDATE public.import_candidates AS c SET
            decision = c.decision || '{"reason": null, "merged": null}'
        FROM public.imports AS i
        WHERE i.tenant_id = tenant AND i.namespace = space AND c.tenant_id = tenant
          AND c.import_id = i.import_id AND EXISTS (
            SELECT FROM jsonb_array_elements(c.matches) AS m
            WHERE m ->> 'event_id' = ANY(event_ids));
        DELETE FROM public.import_graph_changes AS g USING public.imports AS i
        WHERE i.tenant_id = tenant AND i.namespace = space AND g.tenant_id = tenant
          AND g.import_id = i.import_id AND (g.import_id = ANY(emptied) OR EXISTS (
            SELECT FROM unnest(event_ids) AS e WHERE position(e IN g.before::text) > 0));
    END $$
"""
_REBUILD = """
    CREATE FUNCTION rebuild_blocks(tenant text, space text, rebuilt jsonb) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
    DECLARE
        block record;
    BEGIN
        FOR block IN
            SELECT n.*, b.thread_id
            FROM jsonb_to_recordset(rebuilt) AS n(block_id text, formed_turn bigint,
                started_at timestamptz, ended_at timestamptz, layers jsonb)
            JOIN public.blocks AS b ON b.tenant_id = tenant AND b.block_id = n.block_id
            WHERE b.namespace = space
        LOOP
            UPDATE public.blocks AS b SET formed_turn = block.formed_turn,
                started_at = block.started_at, ended_at = block.ended_at
            WHERE b.tenant_id = tenant AND b.block_id = block.block_id;
            UPDATE public.block_layers AS l SET content = n.value ->> 0,
                tokens = (n.value ->> 1)::integer
            FROM jsonb_each(block.layers) AS n
            WHERE l.tenant_id = tenant AND l.block_id = block.block_id
              AND l.level = n.key::smallint;
            DELETE FROM public.block_summaries AS y
            WHERE y.tenant_id = tenant AND y.block_id = block.block_id;
            DELETE FROM public.version_blocks AS v
            WHERE v.tenant_id = tenant AND v.block_id = block.block_id;
            UPDATE public.threads AS h SET ready_count = ready_count - 1
            FROM public.block_states AS s
            WHERE s.tenant_id = tenant AND s.block_id = block.block_id AND s.status = 'ready'
              AND h.tenant_id = tenant AND h.namespace = space AND h.thread_id = block.thread_id;
            UPDATE public.block_states AS s SET status = 'pending', anchor_level = 5,
                anchor_position = NULL, ready_at = NULL, lifted_at = NULL, lifted_by = NULL,
                updated_at = now()
            WHERE s.tenant_id = tenant AND s.block_id = block.block_id;
        END LOOP;
    END $$
"""
# scrub: {batches: [id], refs: [evidence ref], audit: [id]}
_SCRUB = """
    CREATE FUNCTION scrub_records(tenant text, space text, erasure text, scrub jsonb) RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
    DECLARE
        batch_ids text[] := ARRAY(SELECT b.batch_id FROM public.batches AS b
            WHERE b.tenant_id = tenant AND b.namespace = space AND b.batch_id IN (
                SELECT jsonb_array_elements_text(scrub -> 'batches')));
        refs text[] := ARRAY(SELECT jsonb_array_elements_text(scrub -> 'refs'));
    BEGIN
        UPDATE public.batches AS b SET query = NULL, request = '{}', thread_id = (
            SELECT h.thread_id FROM public.threads AS h WHERE h.tenant_id = tenant
              AND h.namespace = space AND h.thread_id = b.thread_id)
        WHERE b.tenant_id = tenant AND b.batch_id = ANY(batch_ids);
        DELETE FROM public.batch_items AS i WHERE i.tenant_id = tenant
          AND i.batch_id = ANY(batch_ids) AND i.evidence_ref = ANY(refs);
        UPDATE public.batch_items AS i SET event_ids = ARRAY(
            SELECT e.event_id FROM public.events AS e
            WHERE e.tenant_id = tenant AND e.event_id = ANY(i.event_ids))
        WHERE i.tenant_id = tenant AND i.batch_id = ANY(batch_ids);
        UPDATE public.assessments AS a SET question = NULL, fit = '', missing = '',
            advisories = '[]', rejected_evidence_refs = '[]', evidence_refs = ARRAY(
                SELECT r FROM unnest(a.evidence_refs) AS r WHERE r <> ALL(refs))
        WHERE a.tenant_id = tenant AND a.batch_id = ANY(batch_ids);
        INSERT INTO public.tombstones (tenant_id, kind, hash, erasure_id)
        SELECT tenant, 'receipt', public.erasure_hash_of(tenant,
            concat_ws(chr(31), space, 'use', u.receipt_id)), erasure
        FROM public.use_receipts AS u
        WHERE u.tenant_id = tenant AND u.batch_id = ANY(batch_ids)
          AND u.receipt_id NOT LIKE 'erased:%'
        ON CONFLICT DO NOTHING;
        UPDATE public.use_receipts AS u SET answer = '{}', request_hash = '',
            receipt_id = CASE WHEN u.receipt_id LIKE 'erased:%' THEN u.receipt_id
                ELSE 'erased:' || u.use_receipt_id END,
            evidence_refs = ARRAY(SELECT r FROM unnest(u.evidence_refs) AS r
                WHERE r <> ALL(refs)),
            audit = u.audit || jsonb_build_object('erased', true, 'query', NULL, 'question', NULL,
                'fit', '', 'missing', '', 'answer', '{}'::jsonb, 'thread_id', NULL, 'citations',
                coalesce((SELECT jsonb_agg(c) FROM jsonb_array_elements(u.audit -> 'citations')
                    AS c JOIN public.events AS e ON e.tenant_id = tenant
                        AND e.event_id = c ->> 'event_id'), '[]'::jsonb))
        WHERE u.tenant_id = tenant AND u.batch_id = ANY(batch_ids);
        UPDATE public.audit_log AS a SET detail = '{"erased": true}'
        WHERE a.tenant_id = tenant AND a.audit_id IN (
            SELECT jsonb_array_elements_text(scrub -> 'audit'));
    END $$
"""
# Up to `most` rows of each table at a time; the namespace itself goes when nothing else is left.
_NAMESPACE = """
    CREATE FUNCTION erase_namespace(tenant text, space text, erasure text, most integer)
    RETURNS jsonb LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
    DECLARE
        holder regclass;
        own text := format('tenant_id = %L AND namespace = %L', tenant, space);
        counts jsonb := '{}';
    BEGIN
        INSERT INTO public.tombstones (tenant_id, kind, hash, erasure_id)
        SELECT tenant, 'receipt', public.erasure_hash_of(tenant,
            concat_ws(chr(31), space, r.operation, r.receipt_id)), erasure
        FROM (SELECT operation, receipt_id FROM public.request_receipts
              WHERE tenant_id = tenant AND namespace = space
                AND operation IN ('turn', 'import')
              UNION ALL
              SELECT 'use', receipt_id FROM public.use_receipts
              WHERE tenant_id = tenant AND namespace = space) AS r
        ON CONFLICT DO NOTHING;
        FOR holder IN
            SELECT c.oid::regclass FROM pg_class AS c
            WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
              AND NOT c.relispartition
              AND c.relname NOT IN ('namespaces', 'audit_log', 'model_calls', 'jobs', 'erasures')
              AND (SELECT count(*) FROM pg_attribute AS a WHERE a.attrelid = c.oid
                   AND a.attname IN ('tenant_id', 'namespace') AND NOT a.attisdropped) = 2
            ORDER BY c.relname
        LOOP
            counts := public.erase_rows(holder, format('%s AND ctid = ANY(ARRAY(SELECT ctid '
                'FROM %s WHERE %s LIMIT %s))', own, holder, own, most), counts);
        END LOOP;
        IF counts = '{}' THEN
            UPDATE public.audit_log SET detail = '{"erased": true}'
            WHERE tenant_id = tenant AND namespace = space
              AND action NOT IN ('erasure_started', 'erasure_finished');
            UPDATE public.model_calls SET detail = NULL
            WHERE tenant_id = tenant AND namespace = space AND detail IS NOT NULL;
            DELETE FROM public.jobs AS j WHERE j.tenant_id = tenant AND j.namespace = space
              AND j.kind <> 'erase';
            PERFORM public.erase_rows('public.namespaces', own, counts);
        END IF;
        RETURN counts;
    END $$
"""
_RETENTION = """
    CREATE FUNCTION retention_due(most integer)
    RETURNS TABLE (tenant_id text, namespace text, days integer)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
        SELECT n.tenant_id, n.namespace, p.days
        FROM public.namespaces AS n
        JOIN public.tenants AS t ON t.tenant_id = n.tenant_id
        CROSS JOIN LATERAL (SELECT coalesce(n.policy ->> 'retention_days',
            t.policy ->> 'retention_days')::integer AS days) AS p
        WHERE p.days IS NOT NULL
          AND (SELECT u.created_at FROM public.turns AS u
               WHERE u.tenant_id = n.tenant_id AND u.namespace = n.namespace
               ORDER BY u.namespace_turn LIMIT 1) < now() - make_interval(days => p.days)
          AND NOT EXISTS (SELECT FROM public.erasures AS e
               WHERE e.tenant_id = n.tenant_id AND e.namespace = n.namespace
                 AND e.state = 'running')
        ORDER BY n.tenant_id, n.namespace LIMIT most
    $$
"""
FUNCTIONS = (
    *HASHING,
    _CASCADE,
    _IMPORTS,
    _PART,
    _REBUILD,
    _SCRUB,
    _NAMESPACE,
    _ERASE,
    _RETENTION,
)
CALLERS = {
    "erasure_hash_of(text, text)": None,
    "erasure_hash(text)": "app_role",
    "ensure_erasure_key()": "app_role",
    "refuse_erased_receipt()": None,
    "erase_rows(regclass, text, jsonb)": None,
    "erase_part(text, text, text, jsonb)": None,
    "erase_of_imports(text, text, text[], text[])": None,
    "rebuild_blocks(text, text, jsonb)": None,
    "scrub_records(text, text, text, jsonb)": None,
    "erase_namespace(text, text, text, integer)": None,
    "erase_sources(text, jsonb)": "app_role",
    "retention_due(integer)": "queue_role",
}
"""Which role may call each function; the others are called by these alone."""
