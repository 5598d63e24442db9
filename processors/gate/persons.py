"""Of whom a stretch of text speaks: of the user, or of somebody else."""

from __future__ import annotations

from typing import Final

from processors.gate.phrases import Phrases
from processors.gate.reading import Reading

OTHERS: Final = Phrases(
    spaced=(
        *("colleague*", "coworker", "co worker", "boss", "manager", "friend", "friend s", "sister"),
        *("brother", "mother", "mom", "mum", "father", "dad", "wife", "husband", "son", "daughter"),
        *("partner", "girlfriend", "boyfriend", "fiance", "fiancee", "neighbor", "neighbour"),
        *("aunt", "uncle", "cousin", "grandma", "grandmother", "grandpa", "grandfather", "niece"),
        *("nephew", "roommate", "flatmate", "landlord", "landlady", "teacher", "ex", "child"),
        *("kid", "kids", "children", "parents", "mother in law", "father in law", "employee"),
        *(
            "teammate",
            "classmate",
            "client",
            "stepson",
            "stepdaughter",
            "baby",
            "twin",
            "he",
            "she",
        ),
        *("kollege", "kollegin", "kollegen", "chef", "chefin", "freund", "freundin", "schwester"),
        *("bruder", "mutter", "vater", "frau", "mann", "ehemann", "ehefrau", "sohn", "tochter"),
        *("partnerin", "nachbar", "nachbarin", "tante", "onkel", "cousine", "oma", "opa"),
        *("mitbewohner*", "vermieter*", "lehrer", "lehrerin", "kind", "kinder", "eltern"),
        *("schwager", "schwagerin", "schwiegermutter", "neffe", "nichte", "er"),
        *("companero", "companera", "colega", "jefe", "jefa", "amigo", "amiga", "hermano"),
        *("hermana", "madre", "padre", "mama", "papa", "esposa", "esposo", "marido", "mujer"),
        *("hijo", "hija", "novio", "novia", "pareja", "vecino", "vecina", "tia", "tio", "primo"),
        *("prima", "abuela", "abuelo", "sobrino", "sobrina", "suegra", "suegro", "profesor*"),
        *("collegue", "patron", "patronne", "ami", "amie", "soeur", "sœur", "frere", "mere"),
        *("pere", "maman", "mari", "femme", "fils", "fille", "copain", "copine", "voisin"),
        *("voisine", "tante", "oncle", "cousin", "cousine", "grand mere", "grand pere", "elle"),
        *("भाई", "बहन", "मां", "माँ", "माता", "पिता", "पत्नी", "पति", "बेटा", "बेटे", "बेटी"),
        *("दोस्त", "सहकर्मी", "पड़ोसी", "चाचा", "चाची", "दादी", "दादा", "नानी", "बॉस", "मित्र"),
    ),
    unspaced=(
        *(
            "同事",
            "老板",
            "朋友",
            "姐姐",
            "妹妹",
            "哥哥",
            "弟弟",
            "妈妈",
            "母亲",
            "爸爸",
            "父亲",
            "妻子",
        ),
        *(
            "老婆",
            "丈夫",
            "老公",
            "儿子",
            "女儿",
            "男友",
            "女友",
            "男朋友",
            "女朋友",
            "邻居",
            "阿姨",
        ),
        *("叔叔", "奶奶", "爷爷", "外婆", "外公", "室友", "房东", "老师", "同学", "他", "她"),
        *(
            "同僚",
            "上司",
            "友人",
            "友達",
            "姉",
            "妹",
            "兄",
            "弟",
            "母",
            "父",
            "妻",
            "夫",
            "息子",
            "娘",
        ),
        *("彼女", "彼氏", "隣人", "祖母", "祖父", "叔父", "叔母", "大家", "先生", "さん", "彼"),
    ),
)
"""People in the user's life, and how they are called in the third person."""

SELF: Final = Phrases(
    spaced=(
        *("i", "im", "me", "myself", "user", "ich", "mir", "mich", "yo", "me", "je", "j"),
        *(
            "tengo",
            "soy",
            "estoy",
            "tomo",
            "padezco",
            "ai",
            "suis",
            "prends",
            "habe",
            "bin",
            "nehme",
        ),
        *("मैं", "मुझे", "मुझको", "मैंने", "हूँ", "हूं"),
    ),
    unspaced=(
        "我有",
        "我是",
        "我得",
        "我在",
        "我被",
        "我患",
        "我自己",
        "用户",
        "私",
        "僕",
        "俺",
        "自分",
    ),
)
"""How one speaks of oneself, and how a model calls the user."""


def speaks_of_other(reading: Reading, start: int, place: int) -> bool:
    """Tell whether what stands at ``place`` is said of somebody else.

    Whoever was named last in front of it counts, from ``start`` (the beginning of the clause) on.

    Args:
        reading: the text.
        start: where in the folded text to look from.
        place: where the matter stands.
    """
    others = [end for _, end in OTHERS.found(reading, start, place) if end <= place]
    if not others:
        return False
    own = [end for _, end in SELF.found(reading, start, place) if end <= place]
    return max(others) > max(own, default=-1)
