"""What is said and tells nothing to remember: greetings, thanks, applause, one-off requests."""

from __future__ import annotations

import re
from typing import Final

from shared.domain.fillers import is_filler
from workers.models.rules import patterns_zh
from workers.models.rules.sentences import Sentence
from workers.models.rules.voice_en import opened

_COURTESY: Final = re.compile(
    r"^(?:(?:ok|okay|yes|no|yeah|yep|yup|nope|thanks?(?: you)?(?: so much| a"
    r" lot| again)?|thx|cheers|hi|hey|hello"
    r"|good (?:morning|evening|night|afternoon|luck|point|idea|job|call|for"
    r" you)|bye(?: bye)?|goodbye|see you.*"
    r"|talk (?:to you )?(?:soon|later).*|take care.*|you(?:'re| are) welcome"
    r"|no (?:problem|worries).*|my pleasure"
    r"|great|perfect|lovely|nice|cool|awesome|amazing|wow|wonderful"
    r"|excellent|fine|sure|sounds? (?:good|great|awesome"
    r"|fun|amazing|cool|lovely|nice|like .*)|got it|will do|same here|me too"
    r"|agreed|exactly|absolutely|definitely"
    r"|of course|anytime|any time|congrat\w*.*|well done|enjoy.*|have (?:a"
    r"|fun).*|go on|continue|next|done|noted"
    r"|understood|right|true|correct|indeed|haha+|lol|let's do it|let's go|i"
    r" agree|i see|i understand|i know(?:, right)?"
    r"|can't wait|i can't wait|what's up|welcome back|long time no (?:see"
    r"|talk|chat).*|keep (?:it up|going|in touch|me"
    r" posted).*|stay (?:safe|positive|strong).*|hang in there.*|hope (?:you"
    r"|all|this|that|to see|everything).*)"
    r"[\s,!.]*)+$",
    re.IGNORECASE,
)
_APPLAUSE: Final = re.compile(
    r"^(?:that|it|this|those|these|they|you|your|what|such|looks?|how|so"
    r"|glad|happy|proud|keep|believe|sorry|thanks?"
    r"|thank|appreciate|congrat\w*|way to|good|great|nice|awesome|hope"
    r"|hoping|wish\w*|can't wait|don't|never|always|let me"
    r"|i(?:'m| am) (?:so |really |very |always |also )?(?:glad|happy|sorry"
    r"|here|proud|sure|excited|rooting|grateful|thankful"
    r"|with you|all ears|good|fine|ok|okay|down|in)|i (?:hope|bet|agree|see"
    r"|understand|(?:totally|really|truly|completely) (?:agree|appreciate|hope|understand|get)"
    r"|know|guess|think|hear|wish|appreciate|can (?:see|imagine|tell|picture"
    r"|relate)|believe in|love (?:that|it|your|how)"
    r"|'ll|will)|i'll|i'd love to (?:hear|see|know)|that's|it's|you're"
    r"|you've|you'll|here's|there's|sounds|seems|must|guessing|fingers"
    r"|i(?:'m| am) sure)\b",
    re.IGNORECASE,
)
_IMPERATIVE: Final = re.compile(
    r"^(?:please\s+|can you\s+|could you\s+|would you\s+|now\s+|then\s+)*"
    r"(?:convert|check|write|show|tell|explain|give|find|list"
    r"|translate|summari[sz]e|calculate|compute|help|create|generate|run"
    r"|look|search|open|read|compare|describe|suggest|recommend"
    r"|rewrite|draft|implement|refactor|debug|test|plot|sort|format|print"
    r"|draw|make|add|remove|delete|update|fix|try|go|see|take"
    r"|use|put|send|call|ask|wait|stop|start|repeat|continue|proceed|do|be"
    r"|imagine|suppose|pretend|consider|think|guess|say|play"
    r"|define|outline|review|analy[sz]e|extract|install|set|change|move"
    r"|rename|count|solve|answer|remind|get|bring|keep|come)\b",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    r"^(?:what|who|whom|whose|where|when|why|how|which|can|could|would"
    r"|should|do|does|did|is|are|was|were|am|have|has|will"
    r"|shall|may|any|got)\b(?!\s+(?:i|we) (?:was|were|have|had|got|met|went)\b)",
    re.IGNORECASE,
)
_HYPOTHETICAL: Final = re.compile(
    r"^(?:if|imagine|suppose|what if|in case|were i|had i)\b|\b"
    r"(?:hypothetically|for example|e\.g\.|say,)|\bif i were\b"
    r"|^(?:maybe|perhaps|possibly),?\s+(?:i|we|he|she|they)\s+"
    r"(?!should|could|can|will|would|need|want)"
    r"|^(?:i|we|he|she|they)\s+(?:might|may)\s+have\s+\w"
    r"|^(?:如果|假如|假设|要是|万一|比如)",
    re.IGNORECASE,
)
_PROCESS: Final = re.compile(
    r"^(?:one (?:moment|second|sec)|hold on|let me (?:check|see|think|know)"
    r"|never ?mind|try again|go ahead|same (?:again|as before)"
    r"|as (?:above|before)|see above|test(?:ing)?(?: \d+)*|ping)\b[\s.!,]*",
    re.IGNORECASE,
)


def is_small_talk(sentence: Sentence) -> bool:
    """Tell whether the whole sentence is a greeting, thanks, a bare confirmation or a filler."""
    text = sentence.text.replace("’", "'").strip()
    if is_filler(text) or not any(char.isalnum() for char in text):
        return True
    if sentence.is_chinese:
        return patterns_zh.SMALL_TALK.match(text) is not None
    return bool(_COURTESY.match(text) or _COURTESY.match(opened(text)) or _PROCESS.fullmatch(text))


def is_applause(text: str) -> bool:
    """Tell whether an opened English sentence speaks to the other, not of the speaker."""
    return _APPLAUSE.match(text) is not None


def is_request(sentence: Sentence) -> bool:
    """Tell whether the sentence asks the assistant to do something now."""
    if sentence.is_chinese:
        return patterns_zh.REQUEST.match(sentence.text) is not None
    return _IMPERATIVE.match(opened(sentence.text.replace("’", "'"))) is not None


def is_asking(text: str) -> bool:
    """Tell whether an opened English text begins like a question."""
    return _ASKING.match(text) is not None


def is_hypothetical(text: str) -> bool:
    """Tell whether the sentence only supposes something."""
    return _HYPOTHETICAL.search(text) is not None
