"""English rules, the decisive ones first: the first that matches names the kind of a sentence."""

from __future__ import annotations

import re
from typing import Final

from shared.domain.events import Criticality, EventType
from workers.models.rules.kinds import Rule, Turn


def _p(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_ADV = (
    r"(?:(?:really|just|also|always|still|truly|totally|absolutely"
    r"|especially|particularly|all)\s+)*"
)
_LIKED = r"(?:prefers?|likes?|loves?|enjoys?|hates?|dislikes?|adores?|despises?)"
_WHO = (
    r"(?:i|we|they|he|she|[A-Z][a-z]+|kids|dogs|pups|(?:my|our|his|her|their|the|user's)\s+[\w-]+)"
)
_DAY = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:next|this|the following)\s+\w+|tomorrow"
    r"|\d|january|february|march|april|may|june|july|august|september|october|november|december"
)

CORRECTION: Final = _p(
    r"^(?:(?:oh|sorry|wait|no|oops|hmm),?\s+)*(?:i was (?:wrong|mistaken)|correction\b|my mistake"
    r"|scratch that|i misspoke|i meant\b|that(?:'s| is| was) (?:wrong|incorrect|not right)\b"
    r"|let me correct"
    r"|actually,?\s+(?:it|he|she|they|that|the|my|our|we|i)\b)"
)
CANCELLATION: Final = _p(
    r"\b(?:is|are|was|were|been|got|gets|'s)\s+(?:now\s+)?(?:off\b(?!\s+(?:to|the|a|at|in|for|work"
    r"|limits|leash))|cancell?ed|called off|scrapped|abandoned|dropped)|\b"
    r"(?:cancell?ed|called off)\b"
    r"|\bno longer (?:going to|planning|happening|plan)|\b(?:won't|will not) (?:happen|take place)"
    r"|\bgave up (?:on )?(?:the|our|my) (?:plan|idea)|\bchanged (?:my|our) minds?\b"
    r"|\b(?:decided|agreed) not to\b|\bcall(?:ing)? (?:it|the \w+) off\b"
)
POSTPONEMENT: Final = _p(
    r"\b(?:postponed?|rescheduled?|deferred|put off|pushed (?:back|out)|delayed)\b"
    rf"|\bmoved to (?:{_DAY})"
)
REPLACEMENT: Final = _p(
    r"\b(?:switch(?:ed|es|ing)?|migrat(?:ed|es|ing)|convert(?:ed|ing)"
    r"|changed|chang(?:es|ing))\b.{0,60}"
    r"\b(?:from|to|over)\b|\breplac(?:ed?|es|ing)\b|\bnow (?:uses?|runs? on"
    r"|works? (?:at|for)|lives?)\b"
    r"|\b(?:uses?|using|prefers?|works? (?:at|for)|lives? in)\b.{1,50}\b(?:now|instead(?: of)?)\b"
    r"|\bstopped (?:using|eating|drinking|working)\b|\brenamed\b|\bupgraded\b"
    r"|\bmoved (?:from|(?:[\w']+ ){1,6}(?:to|into|onto|from))\b|\bmov(?:ed|ing) (?:to|into)\b"
)
ENDING: Final = _p(r"\b(?:no longer|not any ?more|any ?more|quit|gave up|retired from)\b")
_NEGATED: Final = _p(
    r"\b(?:not|never|isn't|aren't|no)\b(?:\s+\w+){0,2}\s+allerg|\bno\b.{0,20}allerg"
    r"|(?:n['’]t|\bnot|\bnever)\s+(?:have|had|got)\s+(?:[\w-]+\s+){0,4}allerg"
)

RULES: Final = (
    Rule(
        "allergy",
        _p(
            r"\ballergic\b|\ballerg(?:y|ies)\b|\banaphyla|\b(?:lactose|gluten)[ -]intoleran"
            r"|\bceliac\b|\bcoeliac\b|\bepilep(?:sy|tic)|\b(?:is|am|are|'m)\s+(?:a\s+)?diabetic"
            r"|\bdiabetes\b|\basthma|\bpacemaker\b|\bblood type\b|\bemergency contact\b"
        ),
        strength=4,
        status="ongoing",
        category="allergy",
        criticality=Criticality.SAFETY,
        unless=_NEGATED,
    ),
    Rule("correction", CORRECTION, EventType.CHANGE, strength=4, turn=Turn.CORRECTS),
    Rule(
        "postponement",
        POSTPONEMENT,
        EventType.CHANGE,
        strength=4,
        status="planned",
        turn=Turn.POSTPONES,
        unless=_p(r"\bdelayed (?:train|flight|gratification)"),
    ),
    Rule(
        "cancellation",
        CANCELLATION,
        EventType.CANCELLATION,
        strength=4,
        status="cancelled",
        turn=Turn.CANCELS,
        unless=_p(r"\bnois(?:e|y)\b|\b(?:light|lights|power|tv|oven) (?:is|are|was) off"),
    ),
    Rule(
        "reminder",
        _p(
            r"^(?:please\s+)?(?:remember|keep in mind|note that|don't forget|make a"
            r" note|for the record"
            r"|for the report|save this|fyi)\b"
        ),
        strength=4,
    ),
    Rule(
        "standing-rule",
        _p(
            r"\b(?:from now on|going forward|in (?:the )?future)\b"
            r"|^(?:please\s+)?(?:don't|do not) (?:use|write|call|suggest|mention|add"
            r"|include|recommend|send)\b"
            r"|^(?:.*,\s*(?:so\s+)?)?(?:please\s+)?(?:always|never)\s+[a-z]+(?<!s)\b"
            r"|\bplease\s+(?:always|never|do not|don't|keep|call me|stop)\b|^"
            r"(?:please\s+)?call me\s+[A-Z]"
        ),
        EventType.DECISION,
        strength=4,
        status="ongoing",
        category="preference",
        criticality=Criticality.PREFERENCE,
        unless=_p(
            r"\bnever (?:give up|mind|forget)|\bkeep (?:it up|going|me posted|up|in touch|pushing)"
            r"|\balways (?:remember|here)|^always \w+ing"
        ),
    ),
    Rule(
        "diet",
        _p(
            r"\b(?:vegetarians?|vegans?|pescatarian|teetotal|halal|kosher)\b"
            r"|\b(?:don't|doesn't|do not|never|stopped) (?:eat|drink)(?:ing|s)?\b"
        ),
        strength=4,
        status="ongoing",
        category="diet",
        criticality=Criticality.PREFERENCE,
        unless=_p(r"\b(?:vegetarian|vegan) (?:meal|recipe|restaurant|dish|option|place|food|caf)"),
    ),
    Rule("ending", ENDING, EventType.CHANGE, turn=Turn.ENDS, unless=_p(r"\bquit (?:my|smoking)")),
    Rule("migration", _p(r"\bmigrat(?:ed|ing|ion)\b"), EventType.MIGRATION, turn=Turn.REPLACES),
    Rule(
        "replacement",
        REPLACEMENT,
        EventType.CHANGE,
        turn=Turn.REPLACES,
        unless=_p(
            r"\b(?:will|plan(?:s|ning)? to|going to|want to|might|should)\b|\bmoved? (?:me|on)\b"
        ),
    ),
    Rule(
        "decision",
        _p(
            r"\b(?:decided|decide|decision|chose|chosen|agreed (?:to|on|that|with)|settled on|opted"
            r"|picked|went with|going with|made up (?:my|our) minds?|we will use"
            r"|let's (?:use|go with)"
            r"|let us)\b"
        ),
        EventType.DECISION,
        unless=_p(r"\b(?:can't|cannot|couldn't|haven't|hasn't|to) decide\b|\bpicked up\b"),
    ),
    Rule(
        "incident",
        _p(
            r"\b(?:outage|incident|crash(?:ed)?|went down|is down|broke(?:n)?(?:"
            r" down)?|fail(?:ed|s|ure|ing)"
            r"|bug|corrupt(?:ed)?|leak(?:ed|s)?|went out|disk (?:was|is) full"
            r"|accident|injur(?:y|ed)"
            r"|stolen|robbed|hospital|surgery|flood(?:ed)?|got (?:sick|fired|hurt"
            r"|lost)|passed away|died"
            r"|laid off|lost (?:my|our|his|her|a|the|\w+'s)|broke up|vulnerabilit\w+"
            r"|conflicts all)\b"
        ),
        EventType.INCIDENT,
        status="occurred",
        unless=_p(r"\bwent out (?:for|to|with)\b|\bfixed\b|\blost (?:the|my) (?:weight|track)"),
    ),
    Rule(
        "release",
        _p(r"\b(?:released|shipped|launched|published|deployed|went live|rolled out)\b"),
        EventType.RELEASE,
        status="occurred",
        turn=Turn.COMPLETES,
        unless=_p(
            r"\b(?:will be|to be|not|hasn't been) (?:released|shipped|launched|published|deployed)"
        ),
    ),
    Rule(
        "completion",
        _p(
            r"\b(?:finish(?:ed|ing up)|complet(?:ed|ing)|fixed|solved|resolved"
            r"|wrapped up|done with|passed (?:my|the|our)"
            r"|graduated|delivered|merged|submitted|finali[sz]ed|won|achieved|accomplished|deleted"
            r"|removed|found the cause|repaired|repainted|built|set up)\b"
        ),
        EventType.TASK_COMPLETED,
        status="occurred",
        turn=Turn.COMPLETES,
        unless=_p(
            r"\b(?:will be|to be|not|haven't|hasn't|almost) (?:\w+ )?(?:finished"
            r"|completed|fixed|done)|won't"
        ),
    ),
    Rule(
        "collaboration",
        _p(
            r"\b(?:joined|joins|joining|teamed up|collaborat\w+|partner(?:ed|ing) "
            r"(?:up )?with|hired"
            r"|takes? over|took over|works? with|working with|volunteer(?:ed|ing|s)?|invited)\b"
        ),
        EventType.COLLABORATION,
        strength=2,
    ),
    Rule(
        "identity",
        _p(
            r"\bmy (?:full |first |last |nick)?name(?:'s| is)\b|\bi work (?:at|for"
            r"|as|in)\b|\bi live in\b"
            r"|\bi(?:'m| am) (?:originally )?from\b|\bi(?:'m| am) \d+ years? old\b|\bi was born\b"
            r"|\bi(?:'m| am) an? (?:\w+ ){0,2}(?:engineer|developer|teacher|nurse"
            r"|doctor|student|designer"
            r"|lawyer|artist|writer|manager|scientist|researcher|chef|farmer"
            r"|architect|musician|dancer"
            r"|banker|veteran|baker|photographer|accountant|pilot|driver|carpenter"
            r"|programmer|analyst"
            r"|mother|father|mom|dad|parent|widow|widower|christian|muslim|buddhist|jew|hindu)\b"
            r"|\bmy (?:job|birthday|age|occupation|profession|native language|mother"
            r" tongue|wife|husband)"
            r"(?:'s| is)\b|\bi(?:'m| am) (?:married|divorced|engaged|single"
            r"|left-handed|colou?r-?blind|deaf)\b"
        ),
        status="ongoing",
        category="identity",
        criticality=Criticality.IDENTITY,
    ),
    Rule(
        "preference",
        _p(
            rf"{_WHO}\s+{_ADV}{_LIKED}\b(?!\s+to (?:hear|see you|have you|know))|\b"
            rf"(?:favou?rites?|fave|fav)\b"
            rf"|\b(?:i|we)(?:'m| am|'re| are|'ve| have)?\s+{_ADV}(?:been )?(?:into"
            rf"|passionate about|fond of|keen on"
            r"|obsessed with|a (?:big |huge )?fan of|crazy about|interested in|not a"
            r" fan)\b|\bmy (?:passion|hobby"
            r"|hobbies|go-to|top pick|happy place)\b|\bcan't stand\b|\bwould"
            r" rather\b|\bi (?:don't|do not|didn't)"
            r" (?:like|enjoy|care for)\b|\b(?:mean|means) (?:a lot|so much|the"
            r" world) to me\b|\bi(?:'ve| have) always"
            r" (?:loved|liked|wanted|dreamed|been)\b"
        ),
        strength=2,
        status="ongoing",
        category="preference",
        criticality=Criticality.PREFERENCE,
        unless=_p(
            r"\b(?:i|we)'d (?:love|like)\b|\bwould (?:love|like)\b|\b(?:looks?"
            r"|sounds?|feels?|seems?|something)"
            r" like\b|\b(?:love|like|hate) (?:to hear|that(?:[.!]|$)|it[.!]|your\b|how you\b|you\b)"
        ),
    ),
    Rule(
        "plan",
        _p(
            r"\bplan(?:s|ning|ned)?\b|\b(?:going to|gonna|want(?:s)? to|wanna|hop"
            r"(?:e|es|ing) (?:to|for)|intend"
            r"|about to|scheduled|looking forward to|thinking (?:of|about)"
            r"|considering|aim(?:ing)? to|can't wait"
            r"|'d (?:like|love) to|would (?:like|love) to|need to|have to"
            r"|(?:i|we|he|she) must(?! (?:be|have|say|admit))|upcoming|dream(?:ing)? of)\b"
            r"|\b(?:will|'ll|won't)\b|\b(?:is|are|am|'m|'re) (?:\w+"
            r" )?\w+ing\b.{0,60}\b(?:next|tomorrow|tonight)\b"
            r"|\b(?:next (?:week|month|year|weekend|spring|summer|fall|autumn|winter)|tomorrow)\b"
        ),
        EventType.PLAN,
        strength=2,
        status="planned",
        unless=_p(
            r"\b(?:you|it|that)(?:'ll| will)\b|\bif (?:i|we|you)\b|\bcan't wait to "
            r"(?:see|hear)\b|\bi(?:'ll| will)"
            r" (?:be here|let you|keep|always|never|definitely keep|check|try|do"
            r"|look|get back|ttyl|talk|see)\b|\bfingers crossed\b|\bmust be\b"
        ),
    ),
    Rule(
        "meeting",
        _p(
            r"\b(?:meeting|appointment|interview(?:ed)?|conference|met (?:up )?with"
            r"|met (?:some|a|an|my|the|[A-Z])"
            r"|talked (?:to|with)|call with|lunch with|dinner with)\b"
        ),
        EventType.MEETING,
        strength=2,
        unless=_p(r"\bmeeting rooms?\b"),
    ),
)
"""Everything that says by its own words what it is; the rest is read by its grammar."""
