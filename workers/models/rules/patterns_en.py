"""English rules, the decisive ones first: the first that matches names the kind of a sentence."""

from __future__ import annotations

import re
from typing import Final

from shared.domain.events import Criticality, EventType
from workers.models.rules.kinds import Rule, Turn


def _p(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_ME = r"\b(?:i|we|i'm|we're|i've|we've|my|our)\b"
_KIN = (
    r"(?:sister|brother|mother|father|mom|mum|dad|wife|husband|son|daughter|kids?|child(?:ren)?"
    r"|parents?|grand(?:ma|pa|mother|father|parents)|aunt|uncle|cousin|niece|nephew|partner"
    r"|girlfriend|boyfriend|fianc[eé]e?|family)"
)
_ADV = r"(?:(?:really|just|also|always|still|truly|totally|absolutely|especially|particularly|all)\s+)*"
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
    r"|scratch that|i misspoke|i meant\b|that was wrong|that's wrong|let me correct"
    r"|actually,?\s+(?:it|he|she|they|that|the|my|our|we|i)\b)"
)
CANCELLATION: Final = _p(
    r"\b(?:is|are|was|were|been|got|gets|'s)\s+(?:now\s+)?(?:off\b(?!\s+(?:to|the|a|at|in|for|work"
    r"|limits|leash))|cancell?ed|called off|scrapped|abandoned|dropped)|\b(?:cancell?ed|called off)\b"
    r"|\bno longer (?:going to|planning|happening|plan)|\b(?:won't|will not) (?:happen|take place)"
    r"|\bgave up (?:on )?(?:the|our|my) (?:plan|idea)|\bchanged (?:my|our) minds?\b"
    r"|\b(?:decided|agreed) not to\b|\bcall(?:ing)? (?:it|the \w+) off\b"
)
POSTPONEMENT: Final = _p(
    r"\b(?:postponed?|rescheduled?|deferred|put off|pushed (?:back|out)|delayed)\b"
    rf"|\bmoved to (?:{_DAY})"
)
REPLACEMENT: Final = _p(
    r"\b(?:switch(?:ed|es|ing)?|migrat(?:ed|es|ing)|convert(?:ed|ing)|changed|chang(?:es|ing))\b.{0,60}"
    r"\b(?:from|to|over)\b|\breplac(?:ed?|es|ing)\b|\bnow (?:uses?|runs? on|works? (?:at|for)|lives?)\b"
    r"|\b(?:uses?|using|prefers?|works? (?:at|for)|lives? in)\b.{1,50}\b(?:now|instead(?: of)?)\b"
    r"|\bstopped (?:using|eating|drinking|working)\b|\brenamed\b|\bupgraded\b"
    r"|\bmoved (?:from|(?:[\w']+ ){1,6}(?:to|into|onto|from))\b|\bmov(?:ed|ing) (?:to|into)\b"
)
ENDING: Final = _p(r"\b(?:no longer|not any ?more|any ?more|quit|gave up|retired from)\b")
_NEGATED: Final = _p(
    r"\b(?:not|never|isn't|aren't|no)\b(?:\s+\w+){0,2}\s+allerg|\bno\b.{0,20}allerg"
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
            r"^(?:please\s+)?(?:remember|keep in mind|note that|don't forget|make a note|for the record"
            r"|for the report|save this|fyi)\b"
        ),
        strength=4,
    ),
    Rule(
        "standing-rule",
        _p(
            r"\b(?:from now on|going forward|in (?:the )?future)\b"
            r"|^(?:.*,\s*(?:so\s+)?)?(?:please\s+)?(?:always|never)\s+[a-z]+(?<!s)\b"
            r"|\bplease\s+(?:always|never|do not|don't|keep|call me|stop)\b|^(?:please\s+)?call me\s+[A-Z]"
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
            r"|picked|went with|going with|made up (?:my|our) minds?|we will use|let's (?:use|go with)"
            r"|let us)\b"
        ),
        EventType.DECISION,
        unless=_p(r"\b(?:can't|cannot|couldn't|haven't|hasn't|to) decide\b|\bpicked up\b"),
    ),
    Rule(
        "incident",
        _p(
            r"\b(?:outage|incident|crash(?:ed)?|went down|is down|broke(?:n)?(?: down)?|fail(?:ed|s|ure|ing)"
            r"|bug|corrupt(?:ed)?|leak(?:ed|s)?|went out|disk (?:was|is) full|accident|injur(?:y|ed)"
            r"|stolen|robbed|hospital|surgery|flood(?:ed)?|got (?:sick|fired|hurt|lost)|passed away|died"
            r"|laid off|lost (?:my|our|his|her|a|the|\w+'s)|broke up|vulnerabilit\w+|conflicts all)\b"
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
            r"\b(?:finish(?:ed|ing up)|complet(?:ed|ing)|fixed|solved|resolved|wrapped up|done with|passed (?:my|the|our)"
            r"|graduated|delivered|merged|submitted|finali[sz]ed|won|achieved|accomplished|deleted"
            r"|removed|found the cause|repaired|repainted|built|set up)\b"
        ),
        EventType.TASK_COMPLETED,
        status="occurred",
        turn=Turn.COMPLETES,
        unless=_p(
            r"\b(?:will be|to be|not|haven't|hasn't|almost) (?:\w+ )?(?:finished|completed|fixed|done)|won't"
        ),
    ),
    Rule(
        "collaboration",
        _p(
            r"\b(?:joined|joins|joining|teamed up|collaborat\w+|partner(?:ed|ing) (?:up )?with|hired"
            r"|takes? over|took over|works? with|working with|volunteer(?:ed|ing|s)?|invited)\b"
        ),
        EventType.COLLABORATION,
        strength=2,
    ),
    Rule(
        "identity",
        _p(
            r"\bmy (?:full |first |last |nick)?name(?:'s| is)\b|\bi work (?:at|for|as|in)\b|\bi live in\b"
            r"|\bi(?:'m| am) (?:originally )?from\b|\bi(?:'m| am) \d+ years? old\b|\bi was born\b"
            r"|\bi(?:'m| am) an? (?:\w+ ){0,2}(?:engineer|developer|teacher|nurse|doctor|student|designer"
            r"|lawyer|artist|writer|manager|scientist|researcher|chef|farmer|architect|musician|dancer"
            r"|banker|veteran|baker|photographer|accountant|pilot|driver|carpenter|programmer|analyst"
            r"|mother|father|mom|dad|parent|widow|widower|christian|muslim|buddhist|jew|hindu)\b"
            r"|\bmy (?:job|birthday|age|occupation|profession|native language|mother tongue|wife|husband)"
            r"(?:'s| is)\b|\bi(?:'m| am) (?:married|divorced|engaged|single|left-handed|colou?r-?blind|deaf)\b"
        ),
        status="ongoing",
        category="identity",
        criticality=Criticality.IDENTITY,
    ),
    Rule(
        "preference",
        _p(
            rf"{_WHO}\s+{_ADV}{_LIKED}\b(?!\s+to (?:hear|see you|have you|know))|\b(?:favou?rites?|fave|fav)\b"
            rf"|\b(?:i|we)(?:'m| am|'re| are|'ve| have)?\s+{_ADV}(?:been )?(?:into|passionate about|fond of|keen on"
            r"|obsessed with|a (?:big |huge )?fan of|crazy about|interested in|not a fan)\b|\bmy (?:passion|hobby"
            r"|hobbies|go-to|top pick|happy place)\b|\bcan't stand\b|\bwould rather\b|\bi (?:don't|do not|didn't)"
            r" (?:like|enjoy|care for)\b|\b(?:mean|means) (?:a lot|so much|the world) to me\b|\bi(?:'ve| have) always"
            r" (?:loved|liked|wanted|dreamed|been)\b"
        ),
        strength=2,
        status="ongoing",
        category="preference",
        criticality=Criticality.PREFERENCE,
        unless=_p(
            r"\b(?:i|we)'d (?:love|like)\b|\bwould (?:love|like)\b|\b(?:looks?|sounds?|feels?|seems?|something)"
            r" like\b|\b(?:love|like|hate) (?:to hear|that(?:[.!]|$)|it[.!]|your\b|how you\b|you\b)"
        ),
    ),
    Rule(
        "plan",
        _p(
            r"\bplan(?:s|ning|ned)?\b|\b(?:going to|gonna|want(?:s)? to|wanna|hop(?:e|es|ing) (?:to|for)|intend"
            r"|about to|scheduled|looking forward to|thinking (?:of|about)|considering|aim(?:ing)? to|can't wait"
            r"|'d (?:like|love) to|would (?:like|love) to|need to|have to|must|upcoming|dream(?:ing)? of)\b"
            r"|\b(?:will|'ll|won't)\b|\b(?:is|are|am|'m|'re) (?:\w+ )?\w+ing\b.{0,60}\b(?:next|tomorrow|tonight)\b"
            r"|\b(?:next (?:week|month|year|weekend|spring|summer|fall|autumn|winter)|tomorrow)\b"
        ),
        EventType.PLAN,
        strength=2,
        status="planned",
        unless=_p(
            r"\b(?:you|it|that)(?:'ll| will)\b|\bif (?:i|we|you)\b|\bcan't wait to (?:see|hear)\b|\bi(?:'ll| will)"
            r" (?:be here|let you|keep|always|never|definitely keep|check it|try|do|ttyl|talk|see you)\b"
        ),
    ),
    Rule(
        "meeting",
        _p(
            r"\b(?:meeting|appointment|interview(?:ed)?|conference|met (?:up )?with|met (?:some|a|an|my|the|[A-Z])"
            r"|talked (?:to|with)|call with|lunch with|dinner with)\b"
        ),
        EventType.MEETING,
        strength=2,
        unless=_p(r"\bmeeting rooms?\b"),
    ),
)
"""Everything that says by its own words what it is; the rest is read by its grammar."""

FIRST_PERSON: Final = _p(_ME)
KINSHIP: Final = _p(rf"\b(?:my|our)\s+(?:\w+\s+)?{_KIN}\b")
PAST_EXPERIENCE: Final = _p(
    r"\b(?:i|we|my \w+|our \w+|[A-Z][a-z]+)\s+(?:\w+ly\s+|just\s+|also\s+|finally\s+|even\s+|actually\s+)*"
    r"(?:was|were|did|had|went|got|saw|met|took|came|made|gave|found|told|bought|brought|built|caught|chose|drove"
    r"|ate|fell|felt|flew|heard|held|kept|knew|learn(?:t|ed)|left|lost|paid|ran|read|rode|sang|sat|sent|slept|sold"
    r"|spent|spoke|stood|swam|taught|threw|won|wore|wrote|began|broke|drew|grew|became|put|used|[a-z]{2,}ed)\b"
    r"|\b(?:i've|we've|i have|we have)\s+(?:\w+\s+)?(?:been|[a-z]+(?:ed|en|ne|wn|nt|ht)|had|made|met|got)\b"
    r"|^(?:just|recently|finally|also)?\s*(?:got|went|lost|found|started|took|bought|had|made|met|been|finished)\b"
)
ONGOING: Final = _p(
    r"\b(?:i'm|we're|i am|we are|i've been|we've been|been|my \w+ (?:is|are)|[A-Z][a-z]+ is)\s+(?:\w+ly\s+|just\s+|also\s+"
    r"|still\s+|currently\s+|now\s+)*[a-z]+ing\b"
)
HAVING: Final = _p(
    r"\b(?:i|we)(?:'ve| have)? (?:also |still |now |only |even )?(?:have|got|own|keep|play|speak|use|run|teach|study"
    r"|do|make|go|live|work|cook|paint|write|read|grow|try|usually|often|named?|call)\b|\bmy \w+(?: \w+)?"
    r"(?:'s| is| are| has| have| was| were| does| do)\b|\bour \w+(?: \w+)? (?:is|are|has|have|was|were)\b"
)
