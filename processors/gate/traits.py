"""The words for what somebody is, believes or went through, language by language.

A *trait* counts only where somebody is said to be it, a *phrase* always.
"""

from __future__ import annotations

from typing import Final

from processors.gate.phrases import Phrases, word_set

TRAITS: Final = Phrases(
    spaced=(
        # Orientation and gender
        *("gay", "lesbian", "bisexual", "bi sexual", "homosexual", "asexual", "pansexual", "queer"),
        *("transgender", "trans woman", "trans man", "trans", "nonbinary", "non binary"),
        *("schwul", "lesbisch", "bisexuell", "homosexuell", "lesbe", "lesbiana", "homosexuel*"),
        *("lesbienne", "bisexuel*", "transgenero", "समलैंगिक", "heterosexual"),
        # Religion
        *("catholic", "christian", "protestant", "muslim", "jewish", "hindu", "buddhist", "sikh"),
        *(
            "atheist",
            "agnostic",
            "mormon",
            "evangelical",
            "jehovah s witness",
            "orthodox christian",
        ),
        *("baptist", "lutheran", "quaker", "a jew", "religious", "pagan", "scientologist"),
        *("katholisch", "katholik*", "evangelisch", "muslim*", "moslem*", "judisch", "jude"),
        *("judin", "buddhist*", "atheist*", "catolico", "catolica", "musulman", "musulmana"),
        *("judio", "judia", "budista", "ateo", "atea", "evangelico", "testigo de jehova"),
        *("catholique", "musulman*", "juif", "juive", "bouddhiste", "athee", "protestante"),
        *("मुसलमान", "मुस्लिम", "हिंदू", "हिन्दू", "ईसाई", "सिख", "नास्तिक", "बौद्ध", "जैन"),
        *(
            "jew",
            "jews",
            "muslims",
            "catholics",
            "hindus",
            "christians",
            "buddhists",
            "sikhs",
            "jain",
        ),
        *("ex muslim", "ex mormon", "born again", "shia", "sunni", "hasidic", "wiccan", "bahai"),
        # Politics
        *("republican", "democrat", "communist", "socialist", "marxist", "anarchist", "tory"),
        *("libertarian", "right wing", "left wing", "far right", "kommunist*", "sozialist*"),
        *("comunista", "socialista", "communiste", "socialiste", "भाजपा समर्थक", "trump supporter"),
        # Ethnicity, status, other
        *("ethnically", "mixed race", "biracial", "african american", "native american"),
        *("undocumented", "an illegal immigrant", "a refugee", "an asylum seeker", "refugee"),
        *("asylum seeker", "ex convict", "a felon", "felon", "an alcoholic", "alcoholic"),
        *("recovering addict", "an addict", "pregnant", "schwanger", "embarazada", "enceinte"),
        *("गर्भवती", "alkoholiker*", "alcoholico", "alcoholica", "alcoolique", "gefluchtet"),
        *("refugiado", "refugiada", "refugiee", "vorbestraft", "indocumentado", "indocumentada"),
        *("sans papiers", "शरणार्थी", "एचआईवी पॉजिटिव"),
    ),
    unspaced=(
        *(
            "同性恋",
            "双性恋",
            "跨性别",
            "基督徒",
            "天主教徒",
            "穆斯林",
            "佛教徒",
            "犹太人",
            "无神论者",
            "难民",
        ),
        *(
            "党员",
            "怀孕",
            "ゲイ",
            "レズビアン",
            "バイセクシュアル",
            "トランスジェンダー",
            "同性愛者",
            "クリスチャン",
        ),
        *("キリスト教徒", "イスラム教徒", "仏教徒", "妊娠", "難民", "前科"),
    ),
)

PHRASES: Final = Phrases(
    spaced=(
        *("years sober", "months sober", "been sober", "attend aa", "attends aa", "aa meetings"),
        *("na meetings", "recovering from addiction", "in recovery from", "gambling addiction"),
        *("drug addiction", "trocken seit", "anonyme alkoholiker", "alcoholicos anonimos"),
        *("diagnosed with", "my diagnosis", "was diagnosed", "tested positive for"),
        *("on daca", "daca recipient", "without papers", "no papers", "canvassed for"),
        *("campaigned for", "knocked doors for", "door knocking for", "supports labour"),
        *("support labour", "labour voter", "tory voter", "supports the party", "green party"),
        *("labour party", "conservative party", "republican party", "democratic party"),
        *("came out as", "sexual orientation", "gender identity", "gender dysphoria"),
        *("voted for", "i vote", "always vote", "votes for", "voting for", "party member"),
        *("member of the union", "union member", "union rep", "trade union member", "my union"),
        *("joined the union", "joined a union", "member of a union", "trade unionist"),
        *("ig metall", "ver di", "cgt", "ccoo", "unison member", "teamsters", "comisiones obreras"),
        *("convicted of", "criminal record", "served time", "in prison for", "on parole"),
        *("went to jail", "was in jail", "was arrested", "got arrested", "spent time in prison"),
        *("overstayed my visa", "overstayed his visa", "deportation order", "applied for asylum"),
        *("seeking asylum", "had an abortion", "had a miscarriage", "in rehab", "am in aa"),
        *("my psychiatrist", "my therapist", "see a therapist", "see a psychiatrist"),
        *("sees a therapist", "sees a psychiatrist", "seeing a therapist", "seeing a psychiatrist"),
        *("converted to islam", "converted to judaism", "my orientation", "my ethnicity"),
        *("of jewish descent", "of african descent", "of roma descent", "of kurdish descent"),
        *(
            "diagnostiziert",
            "wahle die",
            "wahlt die",
            "gewahlt habe ich",
            "habe die afd",
            "spd gewahlt",
        ),
        *(
            "cdu gewahlt",
            "afd gewahlt",
            "gewerkschaftsmitglied",
            "in der gewerkschaft",
            "vorstrafe",
        ),
        *(
            "vorstrafen",
            "im gefangnis",
            "abgetrieben",
            "fehlgeburt",
            "abtreibung",
            "asyl beantragt",
        ),
        *("in psychotherapie", "mein psychiater", "meine psychiaterin", "mein therapeut"),
        *(
            "meine therapeutin",
            "diagnosticad*",
            "me diagnosticaron",
            "vote por",
            "vote al",
            "voto al",
        ),
        *("voto a", "vota a", "votado a", "afiliad* al sindicato", "miembro del sindicato"),
        *("antecedentes penales", "en la carcel", "mi psiquiatra", "mi psicologa", "mi psicologo"),
        *("sin papeles", "aborto espontaneo", "tuve un aborto", "j ai vote", "a vote pour"),
        *("je vote", "vote pour", "syndique a", "membre du syndicat", "casier judiciaire"),
        *("en prison", "mon psychiatre", "ma psychiatre", "fausse couche", "avortement"),
        *("को वोट", "ट्रेड यूनियन", "गर्भपात", "जेल में"),
    ),
    unspaced=(
        *(
            "确诊",
            "投票给",
            "投给",
            "工会会员",
            "加入了工会",
            "坐过牢",
            "犯罪记录",
            "流产",
            "堕胎",
            "非法移民",
        ),
        *("と診断", "に投票", "労働組合", "刑務所", "流産", "中絶", "不法滞在"),
    ),
)

BEING: Final = word_set(
    "am m is s are re was were be been being as became become becoming identify identifies",
    "identifying converted out openly practising practicing devout bin ist sind war",
    "waren als werde wird glaubig glaubiger glaubige soy es somos eres era fue estoy esta",
    "estamos siendo suis est sommes etais etait deviens devenue devenu religion orientation",
    "ethnicity faith status user politics politically",
)
"""Words near in front of a trait that tell that somebody is it."""

TRAIT_OF_THING: Final = word_set(
    "church churches cathedral school schools university food restaurant cuisine bar bars",
    "club clubs friend friends music history art festival museum temple mosque synagogue",
    "cemetery bakery deli parade pride rights movie film book books holiday holidays calendar",
    "values arts studies party debates philosophy drinks drink beverages neighborhood",
    "neighbourhood community architecture wedding carol carols name named bale dior kirche",
    "schule feiertag feste essen cocina iglesia escuela musica amigos amigas comida fiesta",
    "eglise ecole amis musique wing visa drama fiction camp camps center centre council मंदिर",
    "त्योहार खाना",
)
"""Words behind a trait that make it one of a thing: a Catholic church."""

ABOUT: Final = word_set("about of uber von sobre de sur du")
"""A word near in front of a trait that makes it a subject: a novel about a gay detective."""

NAMED: Final = word_set(
    "name named called heisst heisse llama llamo appelle nombre nom herr mr mrs frau नाम "
)
"""Words near in front of a trait that make it a name: Christian."""

ANIMALS: Final = Phrases(
    spaced=(
        *("dog", "cat", "puppy", "kitten", "horse", "rabbit", "hamster", "parrot", "pet"),
        *("hund", "hundin", "katze", "kater", "pferd", "haustier", "perro", "perra", "gato"),
        *("gata", "caballo", "mascota", "chien", "chienne", "chat", "chatte", "cheval"),
        *("कुत्ता", "कुत्ते", "बिल्ली"),
    ),
    unspaced=("狗", "猫", "宠物", "犬", "ペット"),
)
"""Animals have no privacy of their own."""
