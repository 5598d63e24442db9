"""Words that tell the patterns of the ``rules`` extractor what a phrase can be."""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DIETS: Final = (
    r"(?:lacto-?(?:ovo-?)?|ovo-?|semi-?|demi-?|mostly |strict(?:ly)? |raw )?"
    r"(?:vegetarian|vegan|pesc[ae]tarian|flexitarian|fruitarian|carnivore|omnivore|"
    r"gluten[- ]free|dairy[- ]free|lactose[- ]free|sugar[- ]free|plant[- ]based|"
    r"halal|kosher|jain|keto|paleo|low[- ]carb|low[- ]fodmap)"
)
"""A regular expression of one diet."""

INTOLERANCES: Final = r"(?:lactose|gluten|fructose|histamine|dairy|nut|egg|soy)"

FOODS: Final = (
    r"(?:meat|red meat|beef|pork|chicken|fish|seafood|shellfish|dairy|eggs?|gluten|wheat|sugar|"
    r"nuts|peanuts|mushrooms|onions?|garlic|animal products|lamb|bread|rice|spicy food|alcohol|"
    r"soy|cheese|milk|butter|coriander|cilantro|bananas?|tomatoes|olives|fast food|"
    r"junk food|coffee|tea|soda|wine|beer)"
)

JOBS: Final = _words(
    """
    accountant actor actress actuary administrator advisor analyst animator anthropologist
    architect artist assistant astronaut astronomer athlete attorney auditor author baker banker
    barber barista bartender beautician biologist blogger bookkeeper bricklayer broker builder
    butcher carer caregiver caretaker carpenter cashier cellist chef chemist chiropractor cleaner
    coach composer conductor consultant contractor cook copywriter counsellor counselor curator
    dancer dentist designer detective developer dietitian director doctor dramatist driver
    ecologist economist editor educator electrician engineer entrepreneur estimator executive
    farmer filmmaker firefighter fisherman florist founder gardener geologist goldsmith guide
    hairdresser historian housekeeper housewife illustrator inspector instructor interpreter
    investigator investor jeweller journalist judge lawyer lecturer librarian linguist lifeguard
    machinist manager marketer marketeer masseuse mathematician mechanic microbiologist midwife
    miner minister model musician nanny neurologist novelist nurse nutritionist officer operator
    optician optometrist painter paralegal paramedic pathologist pediatrician pharmacist
    philosopher photographer physician physicist physiotherapist pianist pilot planner plumber
    podcaster poet police postman potter priest principal producer professor programmer
    psychiatrist psychologist publisher radiologist realtor receptionist recruiter referee reporter
    researcher sailor salesman salesperson saleswoman scientist screenwriter sculptor seamstress
    secretary singer soldier solicitor specialist statistician strategist streamer stylist
    supervisor surgeon surveyor tailor teacher technician technologist tester therapist trader
    trainer translator tutor undertaker violinist vet veterinarian waiter waitress watchmaker
    welder writer youtuber zoologist cto ceo cfo coo sre dba
    """
)
"""The last word of what a person works as."""

STATUSES: Final = (
    r"(?:retired|unemployed|self-employed|a freelancer|freelancing|between jobs|"
    r"a stay-at-home (?:mom|mum|dad|parent)|a homemaker|on parental leave)"
)

STUDENTS: Final = r"(?:[\w'-]+ ){0,3}(?:student|undergraduate|undergrad|postgraduate|intern)"

ORGANISATIONS: Final = _words(
    """
    bank hospital school university college company startup start-up firm agency shop store
    restaurant cafe café clinic studio lab laboratory office government council ngo nonprofit
    non-profit charity factory hotel bakery library museum consultancy supermarket airport airline
    bar gym farm kindergarten nursery warehouse pharmacy newspaper corporation ministry bookshop
    bookstore salon garage foundation
    """
)

RELATIONS: Final = (
    r"(?:(?:older|elder|younger|little|big|twin|eldest|oldest|youngest|half|step|late|best|only) )?"
    r"(?:step-?|grand-?)?(?:sister|brother|mother|father|mom|mum|mommy|mummy|dad|daddy|parents|"
    r"wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|son|daughter|kids?|child|"
    r"children|baby|grand(?:mother|father|ma|pa|son|daughter|parents)|granny|nan|aunt(?:ie|y)?|"
    r"uncle|cousin|niece|nephew|friend|flatmate|roommate|housemate|boss|manager|colleague|"
    r"coworker|co-worker|neighbou?r|teacher|dog|cat|puppy|kitten|rabbit|hamster|parrot|horse|pet|"
    r"mother-in-law|father-in-law|sister-in-law|brother-in-law)"
)
"""Whom a user calls "my ..."."""

NOT_PLACES: Final = _words(
    """
    fear hope peace denial poverty hell constant pain misery luxury silence isolation harmony sin
    exile dorms dorm shared student debt shame comfort style bed love darkness town here there
    sales marketing management accounting support hr it engineering finance production
    python java rust go golang linux windows mac macos ios android vim neovim emacs vscode react
    angular vue kotlin swift postgres postgresql mysql mongodb aws azure gcp slack teams notion
    chrome firefox typescript javascript ruby php scala kubernetes docker git github gitlab
    netflix spotify gmail outlook excel
    one two three four five six seven eight nine ten many several some different various both
    a an the my our his her their this that these those another other each every any
    i you he she it we they me us them him
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december yesterday today tomorrow next last
    bigger better something somewhere someone anywhere everywhere nowhere work home bed what where
    quite really very not no never always just being having doing getting
    """
)
"""Words with which no place that a person lives in begins."""

LOWERCASE_THE_PLACES: Final = _words(
    """
    us usa uk states netherlands philippines bahamas bay hague bronx midlands uae maldives alps
    gambia congo emirates
    """
)
"""What may follow "the" in a place that is written in lower case."""

NOT_NAMES: Final = _words(
    """
    not spelled spelt on in hard pronounced too also the a an my very often misspelled maybe later
    back tomorrow when if at by crazy old-fashioned sometime anytime tonight today now asap please
    it that this what whatever anything something by your names difficult easy common rare
    vegan vegetarian american british english indian german french italian spanish chinese
    japanese irish scottish canadian australian mexican brazilian european asian african muslim
    christian hindu jewish catholic
    """
)

NOT_LIKED: Final = _words(
    """
    it that this these those them you your him her yours how what when where why who if whether
    one ones both neither either all so is was as there here myself itself hearing
    knowing seeing your thinking too more most better the first second third fourth last former
    latter other another option way idea sound look version answer response suggestion suggestions
    ask bother say admit break inform complain think believe know see be wait i me us and but
    a an or
    """
)
"""Words that make what follows "I like" no preference worth keeping."""

LIKED_AFTER_THE: Final = _words(
    """
    sea ocean beach mountains outdoors rain snow cold heat summer winter sun countryside city
    colour color theatre theater opera desert forest gym smell taste sound piano guitar violin
    """
)
"""What may follow "I like the" in lower case."""

NOT_EMPLOYERS: Final = NOT_PLACES | _words(
    """
    home night nights nothing free fun hours least weekends weekend day days peanuts money minimum
    odd all full half time once first work school university college
    """
)
"""Words in lower case with which no employer begins."""

NOT_ITEMS: Final = _words(
    """
    it that this them anything nothing everything something so then you i we my me him her
    """
)
"""What no list of things holds."""

CONNECTORS: Final = _words(
    """
    of de del la le las los el di da do du der den van von the upon on sur y e al am an and & -
    """
)
"""Small words that stand within a proper name."""

FIELDS: Final = frozenset(
    {
        *_words(
            """
            finance marketing sales it tech hr education healthcare advertising publishing
            construction insurance banking hospitality retail law logistics accounting media
            tourism agriculture academia research software consulting biotech journalism
            cybersecurity film fashion architecture design
            """
        ),
        "human resources",
        "real estate",
        "software development",
        "data science",
        "customer service",
        "customer support",
        "the film industry",
    }
)
"""What a person can work in."""
