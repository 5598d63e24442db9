"""A memory that stands for several tells what they told, in their words, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from processors.deciding.founding import is_founded

WEDNESDAY = datetime(2024, 3, 6, 12, tzinfo=UTC)
WALKS = ("Walked dog number 1 in the park", "Walked dog number 2 in the park")
PIZZA = ("Ordered a pizza from Luigi's", "Ordered pizza at Luigi's again, with olives")
LAUF = ("Ist am Montag mit dem Hund im Park gelaufen", "Ist mit dem Hund am Fluss gelaufen")
CAFE = ("Tomó un café con Marta en el centro", "Tomó café con Marta cerca del río")
CENA = ("No come carne", "Come pescado los viernes")
RAMEN = ("周末在上海吃拉面", "周三在上海吃拉面")
MEAT = ("Does not eat meat", "Eats fish")


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("Walks dogs number 1 and 2 in the park", WALKS),
        ("Often walked the dog in the park", WALKS),
        ("On Wednesday walked the dog in the park", WALKS),
        ("In March 2024 the user walked a dog several times", WALKS),
        ("Regularly orders pizza from Luigi's, also with olives", PIZZA),
        ("Told of walks in the park", WALKS),
        ("Does not eat meat, but eats fish", MEAT),
        ("Ran 5 km, and went swimming", ("Ran 5 km", "Goes swimming")),
        ("Läuft oft mit dem Hund, im Park und am Fluss", (*LAUF, "Läuft gern")),
        ("Ist mehrmals mit dem Hund gelaufen, im Park und am Fluss", LAUF),
        ("Ist im März mit dem Hund im Park gelaufen", LAUF),
        ("A menudo tomó café con Marta, en el centro y cerca del río", CAFE),
        ("Toma café con Marta", (*CAFE, "Toma mucho té")),
        ("No come carne pero come pescado", CENA),
        ("经常在上海吃拉面", RAMEN),
    ],
)
def test_an_honest_summary_is_founded(content: str, texts: tuple[str, ...]) -> None:
    assert is_founded(content, texts, [WEDNESDAY])


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("Lives in Paris and works for the CIA", WALKS),
        ("Walked the dog for the CIA in the park", WALKS),
        ("Walked the dog drunk in the park", WALKS),
        ("Walked the dog in the park with Tom", WALKS),
        ("Walked the dog in Hyde park", WALKS),
        ("Never walked the dog in the park", WALKS),
        ("Does not walk the dog in the park", WALKS),
        ("Walked the dog in the park in IT", WALKS),
        ("Walked 3 dogs in the park", WALKS),
        ("Walked the dog in the park on Friday", WALKS),
        ("Walked the dog in the park in May", WALKS),
        ("Walked the dog in the park in 2023", WALKS),
        ("Walked the dog at -1 in the park", WALKS),
        ("Orders pizza from Luigis", PIZZA),
        ("Orders pizza from Luigi's and Mario's", PIZZA),
        ("Eats meat and fish", MEAT),
        ("Hasst den Hund im Park", LAUF),
        ("Ist mit Anna im Park gelaufen", LAUF),
        ("Ist nie mit dem Hund gelaufen", LAUF),
        ("Come carne y pescado los viernes", CENA),
        ("Odia el café con Marta", CAFE),
        ("Tomó café con María en el centro", CAFE),
        ("经常在北京吃拉面", RAMEN),
        ("不在上海吃拉面", RAMEN),
        ("上海面吃周", RAMEN),
        ("Likes 🍊", ("Likes 🍎", "Likes fruit")),
    ],
)
def test_what_no_source_told_is_not_founded(content: str, texts: tuple[str, ...]) -> None:
    assert not is_founded(content, texts, [WEDNESDAY])
