"""The words for conditions and medicines, language by language, and what makes them a topic.

A condition is told unless the clause speaks of it as a topic: a course, a novel, a job.
"""

from __future__ import annotations

from typing import Final

from processors.gate.phrases import Phrases, word_set

CONDITIONS: Final = Phrases(
    spaced=(
        # English
        *("diabetes", "diabetic", "depression", "clinical depression", "depressed", "bipolar"),
        *("schizophreni*", "epilep*", "hiv", "aids", "cancer", "leukemia", "leukaemia", "lymphoma"),
        *("tumor", "tumour", "chemo", "chemotherapy", "hepatitis", "ptsd", "adhd", "autis*"),
        *("asperger*", "anxiety disorder", "anxiety", "panic attacks", "panic disorder", "ocd"),
        *("anorexi*", "bulimi*", "eating disorder", "crohn*", "colitis", "coeliac", "celiac"),
        *("asthma", "asthmatic", "copd", "arthritis", "lupus", "multiple sclerosis", "parkinson*"),
        *("alzheimer*", "dementia", "migraines", "fibromyalgia", "endometriosis", "pcos", "ibs"),
        *("hypertension", "high blood pressure", "heart disease", "heart condition", "angina"),
        *("kidney disease", "kidney failure", "thyroid*", "hypothyroid*", "psoriasis", "herpes"),
        *("chlamydia", "syphilis", "gonorrh*", "std", "sti", "infertil*", "erectile dysfunction"),
        *("suicidal", "self harm", "self harming", "personality disorder", "psychosis", "anaemia"),
        *("anemia", "sickle cell", "haemophili*", "hemophili*", "narcolep*", "tourette*", "gout"),
        # Not "als" alone, which is "as", "when" or "if" in German and Dutch
        *("have als", "has als", "got als", "my als", "with als", "als patient", "als diagnosis"),
        *("amyotroph*", "cystic fibrosis", "tuberculosis", "long covid", "lyme disease"),
        *("dyslexi*",),
        *("prediabet*", "dialysis", "kidney transplant", "liver transplant", "heart attack"),
        *("in remission", "relapsed", "ivf", "menopause", "stroke survivor", "a stroke"),
        *("colostomy", "insulin resistance", "high cholesterol", "heart surgery"),
        *("lung disease", "liver disease", "cirrhosis", "autoimmune", "vertigo", "seizures"),
        *("melanoma", "carcinoma", "sarcoma", "myeloma", "immunotherapy", "radiotherapy"),
        *("radiation therapy", "scoliosis", "osteoporosis", "diverticulitis", "pancreatitis"),
        *("emphysema", "pneumonia", "glaucoma", "vitiligo", "eczema", "rosacea", "hernia"),
        *("sleep apnea", "sleep apnoea", "insomnia", "ulcer", "ulcerative", "heart failure"),
        *("arrhythmia", "atrial fibrillation", "pacemaker", "blood clot", "thrombosis", "sepsis"),
        *("hypoglycemi*", "addict*", "alcoholism", "trauma therapy", "dissociative", "paranoi*"),
        # German
        *("angststorungen", "dialyse", "herzinfarkt", "schlaganfall", "epileptik*", "tumor*"),
        *("depressionen", "depressiv*", "diabetiker*", "zuckerkrank", "krebs", "brustkrebs"),
        *("leukamie", "hirntumor", "magersucht", "asthmatiker*", "zoliakie", "angststorung*"),
        *("panikattacken", "schizophren*", "rheuma", "bluthochdruck", "multiple sklerose"),
        *("demenz", "migrane", "schilddrusen*", "unfruchtbar", "suizidgedanken", "autist*"),
        *("essstorung", "burnout", "schuppenflechte", "hepatitis c", "arthrose", "psychose"),
        # Spanish
        *("diabetico", "diabetica", "depresion", "ansiedad", "esquizofrenia", "vih", "sida"),
        *("cancer de", "leucemia", "quimio", "quimioterapia", "asma", "celiaquia", "celiaco"),
        *("celiaca", "trastorno bipolar", "trastorno", "hipertension", "migranas", "tdah"),
        *("esclerosis", "epileptico", "epileptica", "autismo", "demencia", "anorexica", "herpes"),
        *("dialisis", "infarto", "ictus", "epilepsia", "colesterol", "menopausia"),
        # French
        *("diabetique", "depressif", "depressive", "schizophrene", "sida", "cancer du", "leucemie"),
        *("chimio", "chimiotherapie", "asthmatique", "asthme", "coeliaque", "epileptique"),
        *("hypertendu*", "sclerose en plaques", "anxieux", "anxieuse", "trouble bipolaire"),
        *("bipolaire", "autiste", "demence", "seropositi*", "boulimique", "maladie de crohn"),
        *("epilepsie", "infarctus", "avc", "cholesterol"),
        # Hindi
        *(
            "दिल की बीमारी",
            "हृदय रोग",
            "बवासीर",
            "लकवा",
            "गठिया",
            "माइग्रेन",
            "ब्लड प्रेशर",
            "किडनी की बीमारी",
        ),
        *("मधुमेह", "डायबिटीज", "शुगर की बीमारी", "अवसाद", "डिप्रेशन", "कैंसर", "मिर्गी", "दमा"),
        *("एड्स", "एचआईवी", "उच्च रक्तचाप", "टीबी", "थायराइड", "अस्थमा"),
        # Italian, Portuguese
        *("diabete", "depressione", "epilessia", "depressao", "cancro", "tumore"),
    ),
    unspaced=(
        *(
            "透析",
            "中风",
            "脑梗",
            "心梗",
            "肾病",
            "肿瘤",
            "脳梗塞",
            "心筋梗塞",
            "腫瘍",
            "適応障害",
            "糖尿病",
            "抑郁症",
            "抑郁",
            "双相",
            "躁郁症",
            "精神分裂",
            "癫痫",
            "艾滋",
            "癌症",
            "肺癌",
            "乳腺癌",
        ),
        *(
            "胃癌",
            "肝癌",
            "白血病",
            "化疗",
            "乙肝",
            "哮喘",
            "高血压",
            "焦虑症",
            "强迫症",
            "自闭症",
            "多动症",
        ),
        *("心脏病", "甲亢", "甲减", "不孕", "阿尔茨海默", "帕金森", "红斑狼疮", "乳糜泻"),
        *(
            "うつ病",
            "鬱病",
            "双極性",
            "統合失調症",
            "てんかん",
            "がん",
            "癌",
            "抗がん剤",
            "喘息",
            "高血圧",
        ),
        *(
            "パニック障害",
            "不安障害",
            "発達障害",
            "自閉症",
            "認知症",
            "心臓病",
            "肝炎",
            "白血病",
            "不妊",
            "エイズ",
        ),
    ),
)

MEDICATION: Final = Phrases(
    spaced=(
        *("sertralin*", "zoloft", "prozac", "fluoxetin*", "citalopram", "escitalopram", "lexapro"),
        *("venlafaxin*", "bupropion", "wellbutrin", "xanax", "alprazolam", "diazepam", "valium"),
        *("lorazepam", "clonazepam", "klonopin", "seroquel", "quetiapin*", "olanzapin*", "abilify"),
        *("risperidon*", "lamotrigin*", "ritalin", "methylphenidat*", "adderall", "vyvanse"),
        *("metformin*", "insulin*", "ozempic", "semaglutid*", "wegovy", "warfarin", "xarelto"),
        *("lisinopril", "amlodipin*", "atorvastatin*", "statins", "levothyroxin*", "methotrexat*"),
        *(
            "humira",
            "truvada",
            "biktarvy",
            "antiretroviral*",
            "methadon*",
            "suboxone",
            "naltrexon*",
        ),
        *("viagra", "sildenafil", "antidepress*", "antipsychotic*", "antidepressiv*"),
        *("antidepresiv*", "insulina", "litio", "metformina", "blutdrucksenker", "betablocker"),
        *("beta blockers", "blood thinners", "tamoxifen", "prednison*", "oxycodon*", "lithium"),
        *("इंसुलिन", "मेटफॉर्मिन", "testosterone injections", "hormone therapy", "birth control pill"),
    ),
    unspaced=(
        "二甲双胍",
        "胰岛素",
        "抗抑郁药",
        "舍曲林",
        "降压药",
        "インスリン",
        "抗うつ薬",
        "抗うつ剤",
        "メトホルミン",
    ),
)
"""Names of medicines against lasting conditions: taking one tells of the condition."""

TOPICS: Final = Phrases(
    spaced=(
        *("research*", "study", "studies", "studied", "studying", "student", "work", "works"),
        *("worked", "working", "job", "volunteer*", "nurse", "doctor", "surgeon", "clinic"),
        *("hospital", "ward", "patients", "teach*", "lecture", "course", "class", "seminar*"),
        *("write", "writes", "writing", "wrote", "novel", "book", "books", "film", "movie"),
        *("article", "essay", "thesis", "paper", "podcast", "documentary", "charity", "fund*"),
        *("donat*", "awareness", "sign", "zodiac", "horoscope", "great depression", "economic"),
        *("tropic", "museum", "church", "school", "history", "conference", "startup", "app"),
        *("foundation", "screening", "specialist", "department", "giving me", "marathon for"),
        *("read", "reading", "reads", "watch*", "arbeite*", "arbeitet", "studier*", "lerne"),
        *("lernt", "forsch*", "pfleger*", "arzt", "arztin", "buch", "roman", "schreib*"),
        *("artikel", "kurs", "sternzeichen", "spende*", "herr", "frau", "familie", "mr", "mrs"),
        *("dr", "trabaj*", "estudi*", "investig*", "enfermer*", "medico", "medica", "libro"),
        *("novela", "signo", "hospital*", "curso", "travail*", "etudi*", "recherch*", "infirmi*"),
        *("medecin", "livre", "roman", "signe", "hopital", "cours", "काम", "पढ़*", "किताब"),
        *("शोध", "अस्पताल", "नर्स", "डॉक्टर", "राशि"),
    ),
    unspaced=(
        *(
            "研究",
            "工作",
            "护士",
            "医生",
            "医院",
            "论文",
            "小说",
            "课程",
            "专业",
            "书",
            "电影",
            "捐",
        ),
        *(
            "研究",
            "勤務",
            "働",
            "看護師",
            "医師",
            "病院",
            "小説",
            "論文",
            "本を",
            "映画",
            "寄付",
            "授業",
        ),
    ),
)
"""What makes a condition a topic: somebody works on it, reads of it, gives for it."""

MOODS: Final = word_set("depressed anxiety ansiedad anxieux anxieuse")
"""Conditions whose names are moods as well, where a word of ``OCCASIONS`` follows."""

OCCASIONS: Final = word_set("about over por pour")
"""Words behind a mood that tell what it is about: depressed about the election."""

HAVING: Final = Phrases(
    spaced=(
        *("have", "has", "had", "ve", "having", "diagnosed", "suffer*", "got", "my", "his", "her"),
        *("i m", "i am", "am", "is", "habe", "hat", "hatte", "leide", "leidet", "erkrankt", "bin"),
        *("ist", "tengo", "tiene", "padezco", "padece", "soy", "es", "estoy", "esta", "sufro"),
        *("j ai", "a un", "ai", "a", "suis", "est", "souffre", "atteint*", "है", "हूँ", "हूं"),
    )
)
"""How one has a condition: near in front of it, it outweighs a topic."""
