"""Sentences of which each states something, with all that is read out of it."""

from __future__ import annotations

from typing import Final

import pytest

from processors.gate import Said, refusals
from schemas.events import RejectionReason
from schemas.memory import Confidence, MemoryKind
from schemas.proposals import Action
from tests.support.deciding import turn
from tests.unit.processors.extractors.reading import extract, read

STATED: Final = (
    ("My name is Anna.", ["name: Is called Anna"]),
    ("hi, my name's bob", ["name: Is called bob"]),
    ("call me Kate", ["name: Is called Kate"]),
    ("You can call me Dr. Smith", ["name: Is called Dr. Smith"]),
    (
        "Hi, I'm Anna and I live in Berlin, can you recommend restaurants?",
        ["name: Is called Anna", "residence: Lives in Berlin"],
    ),
    ("I live in Pune", ["residence: Lives in Pune"]),
    ("i live in pune now", ["residence: Lives in pune"]),
    ("I'm living in New York City these days", ["residence: Lives in New York City"]),
    (
        "I live in San Francisco, California with my wife",
        ["residence: Lives in San Francisco, California"],
    ),
    ("I moved to Delhi last year", ["residence: Lives in Delhi since 2023"]),
    ("I've moved from Mumbai to Pune", ["residence: Lives in Pune"]),
    (
        "I have moved from New York to Los Angeles last month.",
        ["residence: Lives in Los Angeles since May 2024"],
    ),
    ("We moved to Lisbon in March 2023", ["residence: Lives in Lisbon since March 2023"]),
    ("I'm based in the Netherlands", ["residence: Lives in the Netherlands"]),
    ("I've lived in Tokyo since 2019", ["residence: Lives in Tokyo since 2019"]),
    ("I moved here to Amsterdam yesterday", ["residence: Lives in Amsterdam"]),
    ("Just moved to Austin for work!", ["residence: Lives in Austin"]),
    ("Big news: I moved to Lisbon!", ["residence: Lives in Lisbon"]),
    ("Quick update: we moved to Ghent", ["residence: Lives in Ghent"]),
    ("I'm from Chennai originally", ["origin: Is from Chennai"]),
    ("I grew up in Dublin, Ireland", ["origin: Grew up in Dublin, Ireland"]),
    ("I was born in Cairo and raised in Paris", ["origin: Is from Cairo"]),
    (
        "I'm originally from Brazil but I live in Madrid now",
        ["origin: Is from Brazil", "residence: Lives in Madrid"],
    ),
    ("I'm vegetarian", ["diet: Is vegetarian"]),
    ("I am a vegan, so no cheese please", ["diet: Is vegan"]),
    ("I've been vegan for 3 years", ["diet: Is vegan since 2021"]),
    ("I'm vegan and gluten-free", ["diet: Is vegan and gluten-free"]),
    ("I don't eat meat", ["diet: Does not eat meat"]),
    ("I don't eat pork or beef.", ["preference: Does not eat pork or beef"]),
    ("I only eat halal food", ["diet: Follows a halal diet"]),
    ("I keep kosher", ["diet: Follows a kosher diet"]),
    ("I'm on a keto diet", ["diet: Follows a keto diet"]),
    ("I recently became vegetarian", ["diet: Is vegetarian"]),
    ("I'm not vegetarian anymore", ["diet: Is no longer vegetarian"]),
    ("I'm no longer vegan", ["diet: Is no longer vegan"]),
    (
        "I'm allergic to peanuts and shellfish",
        ["allergy: Is allergic to peanuts", "allergy: Is allergic to shellfish"],
    ),
    (
        "I am severely allergic to nuts, eggs, and milk.",
        [
            "allergy: Is allergic to nuts",
            "allergy: Is allergic to eggs",
            "allergy: Is allergic to milk",
        ],
    ),
    ("I have a peanut allergy", ["allergy: Is allergic to peanuts"]),
    ("I have a severe allergy to penicillin", ["allergy: Is allergic to penicillin"]),
    ("I'm lactose intolerant", ["allergy: Is intolerant to lactose"]),
    ("I work at Google", ["employer: Works at Google"]),
    (
        "I work for the World Health Organization as a data scientist",
        [
            "employer: Works at the World Health Organization",
            "occupation: Works as a data scientist",
        ],
    ),
    (
        "I work as a nurse at St. Mary's Hospital",
        ["occupation: Works as a nurse", "employer: Works at St. Mary's Hospital"],
    ),
    ("I'm a software engineer", ["occupation: Works as a software engineer"]),
    (
        "I'm a senior software engineer at Acme Corp in Pune",
        ["occupation: Works as a senior software engineer", "employer: Works at Acme Corp"],
    ),
    (
        "I'm a teacher and I love hiking",
        ["occupation: Works as a teacher", "preference: Loves hiking"],
    ),
    (
        "I started a new job at Stripe last week",
        ["employer: Works at Stripe since the week of 3 June 2024"],
    ),
    (
        "I just joined OpenAI as a research engineer",
        ["employer: Works at OpenAI", "occupation: Works as a research engineer"],
    ),
    ("I quit my job at Google", ["employer: No longer works at Google"]),
    ("I no longer work at Google", ["employer: No longer works at Google"]),
    ("I'm a student at MIT", ["occupation: Is a student at MIT"]),
    ("I'm retired", ["occupation: Is retired"]),
    ("I'm self-employed", ["occupation: Is self-employed"]),
    ("I work in finance", ["occupation: Works in finance"]),
    ("I work at a small startup in Berlin", ["employer: Works at a small startup"]),
    ("I love hiking and photography", ["preference: Loves hiking and photography"]),
    ("I hate coriander", ["preference: Hates coriander"]),
    ("I really like jazz music", ["preference: Likes jazz music"]),
    ("I prefer tea over coffee", ["preference: Prefers tea over coffee"]),
    ("I can't stand loud music", ["preference: Cannot stand loud music"]),
    ("I don't like spicy food", ["preference: Dislikes spicy food"]),
    ("My favorite color is blue", ["preference: Favourite color is blue"]),
    ("My favourite food is sushi.", ["preference: Favourite food is sushi"]),
    ("I'm a big fan of Arsenal", ["preference: Likes Arsenal"]),
    ("My birthday is on March 5th", ["birthday: Birthday is March 5th"]),
    ("my birthday is 12 June 1990", ["birthday: Birthday is 12 June 1990"]),
    ("I was born on 4 July 1988", ["birthday: Birthday is 4 July 1988"]),
    ("My anniversary is on 3 June", ["event: Anniversary is 3 June"]),
    ("Remember that my locker code is 4711", ["note: Locker code is 4711"]),
    ("Please remember that I'm allergic to bees", ["allergy: Is allergic to bees"]),
    ("Can you remember that I'm vegan?", ["diet: Is vegan"]),
    ("remember: the wifi password is hunter2", ["note: The wifi password is hunter2"]),
    ("Note that my flight is on Friday", ["note: Flight is on Friday"]),
    ("My sister lives in Pune", ["residence of sister: Sister lives in Pune"]),
    (
        "My sister Priya lives in Pune and works at Infosys",
        [
            "residence of Priya: Priya lives in Pune",
            "relation: Has a sister called Priya",
            "employer of Priya: Priya works at Infosys",
        ],
    ),
    ("My brother is allergic to cats", ["allergy of brother: Brother is allergic to cats"]),
    ("My wife's name is Sarah", ["relation: Has a wife called Sarah"]),
    ("My wife is vegan", ["diet of wife: Wife is vegan"]),
    ("My dog is called Rex", ["relation: Has a dog called Rex"]),
    ("I have a dog named Rex", ["relation: Has a dog called Rex"]),
    ("I have two kids", ["relation: Has two kids"]),
    ("I'm married to Tom", ["relation: Is married to Tom"]),
    ("My mom's birthday is May 3rd", ["birthday of mom: Mom's birthday is May 3rd"]),
    ("I live in Mumbai. No, I meant Pune.", ["residence: Lives in Pune"]),
    ("My name is Jon. Sorry, I meant John", ["name: Is called John"]),
    ("I live in Pune, not Mumbai", ["residence: Lives in Pune"]),
    ("I no longer live in London", ["residence: No longer lives in London"]),
    ("I don't live in London any more, I moved to Leeds", ["residence: Lives in Leeds"]),
    ("I used to live in Rome", ["event: Used to live in Rome"]),
    ("I'm moving to Berlin next month", ["event: Is moving to Berlin"]),
    ("I told you I live in Oslo", ["residence: Lives in Oslo"]),
    ("Since I'm vegan, what should I eat?", ["diet: Is vegan"]),
    (
        "I live in Pune and I work at Google, what's the weather like?",
        ["residence: Lives in Pune", "employer: Works at Google"],
    ),
    ("From now on, answer in French", ["rule: Answer in French"]),
    ("Always answer briefly", ["rule: Always answer briefly"]),
    ("I work for myself", ["employer: Is self-employed"]),
    ("We live in Austin, Texas", ["residence: Lives in Austin, Texas"]),
    (
        "I'm allergic to penicillin, so please keep that in mind",
        ["allergy: Is allergic to penicillin"],
    ),
    ("By the way, I'm a vegetarian.", ["diet: Is vegetarian"]),
    ("Last month I moved to Oslo", ["residence: Lives in Oslo since May 2024"]),
    ("In 2019, I moved to Canada", ["residence: Lives in Canada since 2019"]),
    ("I became a dad and I live in Rome", ["residence: Lives in Rome"]),
    ("I live in São Paulo", ["residence: Lives in São Paulo"]),
    ("I\u2019m vegan and I\u2019m from Zürich", ["diet: Is vegan", "origin: Is from Zürich"]),
    ("I live in St. Louis. I love it here", ["residence: Lives in St. Louis"]),
    ("I work at 3M", ["employer: Works at 3M"]),
    ("i'm allergic to shellfish", ["allergy: Is allergic to shellfish"]),
    ("I am a doctor.", ["occupation: Works as a doctor"]),
    ("i am from india", ["origin: Is from india"]),
    (
        "I've been working at Microsoft since January 2020",
        ["employer: Works at Microsoft since January 2020"],
    ),
    ("I stopped eating meat last year", ["diet: Does not eat meat since 2023"]),
    ("I enjoy cooking for my family", ["preference: Enjoys cooking for their family"]),
    ("my hometown is Porto", ["origin: Is from Porto"]),
    ("forget that I live in Pune", ["retract residence: Lives in Pune"]),
    ("I'm pescatarian now", ["diet: Is pescatarian"]),
    ("I go by Max", ["name: Is called Max"]),
    (
        "Hey! I'm Priya, a data analyst from Hyderabad.",
        [
            "name: Is called Priya",
            "occupation: Works as a data analyst",
            "origin: Is from Hyderabad",
        ],
    ),
    ("I'm Carlos and I work as a barista in Lisbon.", ["occupation: Works as a barista"]),
    ("My name's Tom, but everyone calls me Tommy.", ["name: Is called Tom"]),
    ("Please call me Sam instead", ["name: Is called Sam"]),
    (
        "btw i'm allergic to penicillin and latex",
        ["allergy: Is allergic to penicillin", "allergy: Is allergic to latex"],
    ),
    ("No dairy for me, I'm lactose-intolerant.", ["allergy: Is intolerant to lactose"]),
    ("I can't eat gluten", ["preference: Does not eat gluten"]),
    (
        "I have allergies to pollen and dust",
        ["allergy: Is allergic to pollen", "allergy: Is allergic to dust"],
    ),
    ("I've got a shellfish allergy, so no prawns", ["allergy: Is allergic to shellfish"]),
    ("I am a huge fan of sci-fi movies", ["preference: Likes sci-fi movies"]),
    ("I absolutely adore my cat", ["preference: Adores their cat"]),
    ("We just moved from Seattle to Denver, Colorado!", ["residence: Lives in Denver, Colorado"]),
    ("Moved to Denver last week", ["residence: Lives in Denver since the week of 3 June 2024"]),
    ("I recently relocated to Singapore for work.", ["residence: Lives in Singapore"]),
    ("I currently live in Toronto, Canada.", ["residence: Lives in Toronto, Canada"]),
    ("i've been living in Seoul for two years", ["residence: Lives in Seoul since 2022"]),
    ("Been living in Seoul for two years", ["residence: Lives in Seoul since 2022"]),
    ("I reside in Oslo", ["residence: Lives in Oslo"]),
    ("I'm a vegetarian who loves spicy food", ["diet: Is vegetarian"]),
    ("As a vegan, I avoid honey", ["diet: Is vegan"]),
    ("I follow a vegan diet", ["diet: Follows a vegan diet"]),
    ("I eat vegan", ["diet: Follows a vegan diet"]),
    ("I went vegan in January 2022", ["diet: Is vegan since January 2022"]),
    ("I've been a vegetarian since I was 12", ["diet: Is vegetarian"]),
    ("I do not eat beef", ["preference: Does not eat beef"]),
    ("I'm Muslim so I only eat halal", ["diet: Follows a halal diet"]),
    (
        "I'm working as a product manager at Shopify",
        ["occupation: Works as a product manager", "employer: Works at Shopify"],
    ),
    ("I got a new job at Netflix!", ["employer: Works at Netflix"]),
    (
        "I'm now a senior engineer at Google",
        ["occupation: Works as a senior engineer", "employer: Works at Google"],
    ),
    ("I was promoted to senior engineer", ["occupation: Works as senior engineer"]),
    ("My daughter Mia is 5", ["relation: Has a daughter called Mia"]),
    ("My partner works at Tesla", ["employer of partner: Partner works at Tesla"]),
    (
        "My best friend lives in Rio de Janeiro",
        ["residence of best friend: Best friend lives in Rio de Janeiro"],
    ),
    ("My son is allergic to eggs", ["allergy of son: Son is allergic to eggs"]),
    ("My boss is called Linda", ["relation: Has a boss called Linda"]),
    ("My husband and I live in Cork", ["residence: Lives in Cork"]),
    ("I've a sister named June", ["relation: Has a sister called June"]),
    ("I have a sister and two brothers", ["relation: Has a sister"]),
    ("Our anniversary is June 3rd", ["event: Anniversary is June 3rd"]),
    ("My wedding anniversary is 12/06/2015", ["event: Anniversary is 12/06/2015"]),
    ("I was born in 1990", ["note: Was born in 1990"]),
    ("I was born in Lagos, Nigeria", ["origin: Is from Lagos, Nigeria"]),
    ("Born and raised in Chicago", ["origin: Grew up in Chicago"]),
    ("I speak French and German", ["note: Speaks French and German"]),
    (
        "My favorite band is Radiohead, what should I listen to next?",
        ["preference: Favourite band is Radiohead"],
    ),
    ("I prefer dark mode", ["preference: Prefers dark mode"]),
    ("I prefer concise answers", ["preference: Prefers concise answers"]),
    ("I hate mornings!", ["preference: Hates mornings"]),
    ("I'm not into sports", ["preference: Dislikes sports"]),
    ("I don't drink alcohol", ["preference: Does not drink alcohol"]),
    ("I like to go running in the morning", ["preference: Likes to go running in the morning"]),
    (
        "I love Italian food but I hate olives",
        ["preference: Loves Italian food", "preference: Hates olives"],
    ),
    ("I no longer eat fish", ["preference: Does not eat fish"]),
    ("I'm not working at Google anymore", ["employer: No longer works at Google"]),
    ("I don't work at Meta any more, I'm at Apple now", ["employer: No longer works at Meta"]),
    ("Scratch that, I live in Porto", ["residence: Lives in Porto"]),
    ("I said I live in Porto, not Lisbon", ["residence: Lives in Porto"]),
    ("Actually, I live in Porto", ["residence: Lives in Porto"]),
    ("Correction: I live in Porto", ["residence: Lives in Porto"]),
    ("I live in the UK", ["residence: Lives in the UK"]),
    ("I live in the south of France", ["residence: Lives in the south of France"]),
    ("I live near Boston", ["residence: Lives near Boston"]),
    ("I live just outside of London", ["residence: Lives just outside of London"]),
    ("I live in Washington, D.C.", ["residence: Lives in Washington, D.C"]),
    ("I live in Bosnia and Herzegovina", ["residence: Lives in Bosnia and Herzegovina"]),
    ("I live in New York and work in Jersey City", ["residence: Lives in New York"]),
    ("I live with my parents in Leeds", ["residence: Lives in Leeds"]),
    ("I live alone in Leeds", ["residence: Lives in Leeds"]),
    ("remember I'm allergic to nuts", ["allergy: Is allergic to nuts"]),
    ("Don't forget that I hate cilantro", ["preference: Hates cilantro"]),
    ("Remember my dentist appointment is on May 5", ["note: Dentist appointment is on May 5"]),
    ("make a note that the garage code is 9921", ["note: The garage code is 9921"]),
    ("keep in mind that I work nights", ["note: They work nights"]),
    ("FYI: I'm on a low-carb diet", ["diet: Follows a low-carb diet"]),
    ("I'm based out of Nairobi", ["residence: Lives in Nairobi"]),
    ("I hail from Kerala", ["origin: Is from Kerala"]),
    ("My sister-in-law is vegan", ["diet of sister-in-law: Sister-in-law is vegan"]),
    ("My mother's name is Ruth", ["relation: Has a mother called Ruth"]),
    ("I'm engaged to Tom", ["relation: Is engaged to Tom"]),
    ("Today I started working at NASA", ["employer: Works at NASA"]),
    ("I've worked at NASA since 2015", ["employer: Works at NASA since 2015"]),
    ("I worked at NASA for ten years", ["event: Used to work at NASA"]),
    ("Last year I went vegan", ["diet: Is vegan since 2023"]),
    ("I turned vegan last year", ["diet: Is vegan since 2023"]),
    ("I'm gluten free", ["diet: Is gluten free"]),
    ("I am kosher", ["diet: Is kosher"]),
    ("I'm keto", ["diet: Is keto"]),
    ("I hate it here, but I love Rome", ["preference: Loves Rome"]),
)


@pytest.mark.parametrize(("text", "expected"), STATED, ids=[text for text, _ in STATED])
def test_what_a_user_states_is_read(text: str, expected: list[str]) -> None:
    assert read(text) == expected


CODES = frozenset(
    {
        "Remember that my locker code is 4711",
        "remember: the wifi password is hunter2",
        "make a note that the garage code is 9921",
    }
)
"""What the rules propose and the gate refuses: a code is not kept, whoever asks for it."""


@pytest.mark.parametrize("text", [text for text, _ in STATED])
def test_the_evidence_is_the_users_own_text_and_passes_the_gate(text: str) -> None:
    refused = (RejectionReason.PASSWORD,) if text in CODES else ()
    for one in extract(text).operations:
        assert one.quote in text
        assert one.quote == one.quote.strip()
        assert refusals(one, Said(turn(text))) == refused
        assert one.confidence is Confidence.STATED


@pytest.mark.parametrize("text", [text for text, _ in STATED])
def test_it_is_read_between_other_sentences_too(text: str) -> None:
    alone = read(text)
    assert read(f"Thanks for the recipe.\n\n{text}\n\nThe weather was fine.") == alone


def test_an_allergy_is_a_matter_of_safety() -> None:
    assert {one.importance for one in extract("I'm allergic to nuts and eggs").operations} == {5}


def test_a_standing_order_is_procedural() -> None:
    (order,) = extract("From now on, answer in French").operations
    assert order.kind is MemoryKind.PROCEDURAL


def test_one_statement_is_proposed_once() -> None:
    text = "I live in Pune. Yes, I live in Pune! As I said, I live in Pune."
    (one,) = extract(text).operations
    assert (one.action, one.quote) == (Action.ADD, "I live in Pune.")


def test_many_clauses_of_one_turn_are_all_read() -> None:
    text = (
        "Hi, I'm Anna. I work as a nurse at St. Mary's Hospital and love hiking; I'm vegan, "
        "allergic reactions aside, and my sister Priya lives in Pune. Which trail is best?"
    )
    assert read(text) == [
        "name: Is called Anna",
        "occupation: Works as a nurse",
        "employer: Works at St. Mary's Hospital",
        "preference: Loves hiking",
        "diet: Is vegan",
        "residence of Priya: Priya lives in Pune",
        "relation: Has a sister called Priya",
    ]
