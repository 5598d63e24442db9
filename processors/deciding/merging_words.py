"""Words that a memory which stands for several may hold without any of these holding them.

They join, place or count what the sources tell, and tell nothing themselves. English, German,
Spanish and French; in any other language the words of the sources must do.
"""

from __future__ import annotations

from typing import Final

_ENGLISH: Final = (
    "a an the this that these those it its he she his her they their them user who which where "
    "when and or but also too as at by for from in into of on onto to with while during since "
    "until after before between within about around over then first later again is are am was "
    "were be been being has have had having do does did often usually sometimes regularly "
    "repeatedly frequently always mostly mainly generally several many few some most more other "
    "others another each every both all various different multiple recently lately now currently "
    "still so far lot bit above once one ones together including such than s"
)
_GERMAN: Final = (
    "der die das den dem des ein eine einen einem einer eines er sie es sein seine seinen seinem "
    "seiner ihr ihre ihren ihrem ihrer und oder aber auch als am an auf aus bei beim bis im in "
    "ins mit nach seit von vom vor w\u00e4hrend zu zum zur zwischen um f\u00fcr dann zuerst "
    "danach wieder ist sind war waren hat haben hatte hatten wird wurde oft meist meistens "
    "manchmal regelm\u00e4\u00dfig h\u00e4ufig immer mehrere mehrmals viele einige andere anderen "
    "jede jeden jeder jedes alle beide verschiedene k\u00fcrzlich derzeit jetzt noch vor allem "
    "einmal"
)
_SPANISH: Final = (
    "el la los las un una unos unas lo le les se su sus este esta estos estas que quien donde "
    "cuando y e o u pero tambi\u00e9n como a al con de del desde durante en entre hasta para por "
    "sobre tras antes despu\u00e9s luego primero otra vez es son est\u00e1 est\u00e1n era eran "
    "fue fueron ha han hab\u00eda a menudo frecuentemente normalmente habitualmente regularmente "
    "siempre varios varias muchos muchas algunos algunas otros otras cada todos todas ambos ambas "
    "recientemente ahora actualmente m\u00e1s todo"
)
_FRENCH: Final = (
    "le la les l un une des il elle ils elles son sa ses ce cette ces qui que o\u00f9 quand et ou "
    "mais aussi comme \u00e0 au aux avec chez d de du dans depuis en entre jusqu pendant pour par "
    "sur apr\u00e8s avant puis encore est sont \u00e9tait \u00e9taient a ont avait avaient "
    "souvent r\u00e9guli\u00e8rement toujours plusieurs beaucoup quelques autres chaque tous "
    "toutes r\u00e9cemment maintenant actuellement plus surtout"
)

_TELLING: Final = (
    "told tells said says mentioned mentions spoke speaks talked talks "
    "erz\u00e4hlte erz\u00e4hlt sagte sagt cont\u00f3 cuenta dijo dice dit racont\u00e9"
)
"""That the user told something, a source needs not tell."""

MERGING: Final = frozenset(" ".join((_ENGLISH, _GERMAN, _SPANISH, _FRENCH, _TELLING)).split())
"""In lower case. Written with a capital within a sentence, they may be a name and are not free."""

_TIMES: Final = (
    "time times day days week weeks month months year years weekly daily monthly yearly "
    "tag tage tagen woche wochen monat monate monaten jahr jahre jahren mal male "
    "vez veces d\u00eda d\u00edas semana semanas mes meses a\u00f1o a\u00f1os "
    "fois jour jours semaine semaines mois an ans ann\u00e9e ann\u00e9es"
)

TIMES: Final = frozenset(_TIMES.split())
"""Words for stretches of time, with which repetitions are told; German ones have a capital."""

_NEGATIONS: Final = (
    "no not never none nobody nothing nowhere neither nor without hardly barely stopped stop "
    "stops quit avoids avoid t cannot nicht kein keine keinen keinem keiner keines nie niemals "
    "ohne nichts niemand kaum nunca jam\u00e1s sin nada nadie tampoco ni ne n pas jamais sans "
    "rien personne aucun aucune \u0928\u0939\u0940\u0902 \u043d\u0435 \u043d\u0435\u0442 nem "
    "n\u00e3o non"
)

NEGATIONS: Final = frozenset(_NEGATIONS.split())
"""Words that turn a statement round; "t" is what is left of "don't" and its like."""

_WEEKDAYS: Final = (
    "monday montag lunes lundi",
    "tuesday dienstag martes mardi",
    "wednesday mittwoch mi\u00e9rcoles mercredi",
    "thursday donnerstag jueves jeudi",
    "friday freitag viernes vendredi",
    "saturday samstag s\u00e1bado samedi",
    "sunday sonntag domingo dimanche",
)
WEEKDAYS: Final = tuple(frozenset(names.split()) for names in _WEEKDAYS)
"""Names of the days, from Monday on."""

_MONTHS: Final = (
    "january januar enero janvier",
    "february februar febrero f\u00e9vrier",
    "march m\u00e4rz marzo mars",
    "april abril avril",
    "may mai mayo",
    "june juni junio juin",
    "july juli julio juillet",
    "august agosto ao\u00fbt",
    "september septiembre septembre",
    "october oktober octubre octobre",
    "november noviembre novembre",
    "december dezember diciembre d\u00e9cembre",
)
MONTHS: Final = tuple(frozenset(names.split()) for names in _MONTHS)
"""Names of the months, from January on."""

JOINING_CHARACTERS: Final = frozenset(
    "\u548c\u4e0e\u8207\u53ca\u5e76\u4e26\u4e5f\u90fd\u7ecf\u7d93\u5e38\u591a\u6b21\u6bcf\u5728\u7684"
    "\u4e86\u3068\u3082\u3088\u304f\u3084\u306e\u3092\u306b\u306f\u304c\u3067\u3057\u305f\u3066"
    "\u4f55\u5ea6\u56de\u6642\u65f6\u3005"
)
"""Characters of Chinese and Japanese that join or count."""

_IRREGULAR: Final = (
    "run ran running|go went gone goes going|eat ate eaten|drink drank drunk|buy bought|"
    "take took taken taking|see saw seen|have has had having|make made making|meet met|"
    "read reads|write wrote written writing|ride rode ridden riding|drive drove driven driving|"
    "swim swam swum swimming|fly flew flown|give gave given giving|get got getting|"
    "come came coming|speak spoke spoken|teach taught|think thought|sleep slept|feel felt|"
    "keep kept|leave left leaving|bring brought|sing sang sung|win won winning|lose lost losing|"
    "cook cooked|play played|begin began begun|choose chose chosen|wear wore worn|sell sold|"
    "pay paid|say said|tell told|know knew known|build built|send sent|spend spent|find found|"
    "order ordered|walk walked|child children|person people|visit visited|study studied studies"
)

IRREGULAR: Final = {
    form: forms.split()[0] for forms in _IRREGULAR.split("|") for form in forms.split()
}
"""English words by their forms that no ending tells."""
