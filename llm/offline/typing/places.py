"""Postcode and city in a text, as the countries whose papers we know write them."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from llm.offline.typing.folding import fold

_WORD = r"[A-ZÀ-Þ'’][\w'’.\-À-ÿ]*"
_INSIDE = "am|an|auf|bei|der|den|im|in|ob|sur|sous|en|de|du|la|le|les|lès|van|aan|op|het|a/d|upon|on|of|the"
_CITY = rf"{_WORD}(?: {_WORD}| (?:{_INSIDE})\b)*"
_AMERICAN = (
    "AL|AK|AZ|AR|CA|CO|CT|DC|DE|FL|GA|HI|IA|ID|IL|IN|KS|KY|LA|MA|MD|ME|MI|MN|MO|MS|MT|NC|ND|NE|NH|NJ|NM|NV|NY|OH|OK|"
    "OR|PA|PR|RI|SC|SD|TN|TX|UT|VA|VT|WA|WI|WV|WY"
)
_STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|"
    "Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|"
    "Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|"
    "Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|"
    "West Virginia|Wisconsin|Wyoming"
)
_PROVINCES = (
    "Québec|Quebec|Ontario|British Columbia|Alberta|Manitoba|Saskatchewan|Nova Scotia|New Brunswick|Nouveau-Brunswick|"
    "Nouvelle-Écosse|Colombie-Britannique|Newfoundland|Yukon"
)
_UK = r"(?:GIR ?0AA|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})"
_EIRCODE = r"[AC-FHKNPRTV-Y]\d[\dW] ?[0-9AC-FHKNPRTV-Y]{4}"
_CANADIAN = r"[A-CEGHJ-NPR-TVXY]\d[A-CEGHJ-NPR-TV-Z] ?\d[A-CEGHJ-NPR-TV-Z]\d"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?P<city>{_CITY})(?:, ?| )(?P<state>{_AMERICAN}|[A-Z]{{2}}(?=,? ?\d{{5}})|{_STATES})\.?,? ?"
        r"(?P<postcode>\d{5}(?:-\d{4})?)(?!\d)",
        rf"(?P<city>{_CITY})(?:, ?| )(?P<state>NSW|VIC|QLD|SA|WA|TAS|ACT|NT),? (?P<postcode>\d{{4}})(?!\d)",
        rf"(?P<city>{_CITY})(?:, ?| \(?)(?P<state>AB|BC|MB|NB|NL|NS|NT|NU|ON|PE|QC|SK|YT)\)?,? +"
        rf"(?P<postcode>{_CANADIAN})(?!\w)",
        rf"(?P<city>{_CITY}) \((?P<state>{_PROVINCES})\),? *(?P<postcode>{_CANADIAN})(?!\w)",
        r"^(?P<city>[A-Z][A-Z' -]{2,}) (?P<postcode>\d{4})$",
        rf"(?P<city>{_CITY}),? (?P<postcode>{_UK})(?!\w)",
        rf"(?P<city>{_CITY}),? (?P<postcode>{_EIRCODE})(?!\w)",
        rf"^(?P<postcode>{_UK}),? (?P<city>{_CITY})$",
        rf"(?:^|(?<=[\s,;·•|(]))(?:(?P<country>[A-Z]{{1,2}})[- –] ?)?(?P<postcode>\d{{5}}|\d{{4}}(?: ?[A-Z]{{2}}\b)?)"
        rf" ?(?P<city>{_CITY}(?: \({_WORD}\))?)",
    )
)
_ALONE = re.compile(rf"^(?P<postcode>{_UK}|{_EIRCODE})$")
_NO_CITY = re.compile(
    r"^(?:Tax|ID|No|Fax|Phone|Ph|Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|January|February|March|"
    r"May|June|July|October|December|EUR|USD|CHF|GBP|Stk|Stck|Uhr|Tel|Tage|Seite|Page|VAT|GST|Uur|Std|Total|KG|PCS)\b"
)


_STREET = re.compile(
    r"(?:Street|St|Way|Avenue|Ave|Road|Rd|Drive|Dr|Lane|Ln|Boulevard|Blvd|Parkway|Pkwy|Court|Ct|Place|Plaza|Crescent|"
    r"Terrace|Circle|Highway|Hwy|Square|Sq|Row|Close|Gardens|Grove|Mews|Suite|Floor|Unit)\.?(?: [NSEW]{1,2}\.?)?$"
)
"""A number before these is that of a house."""
_COUNTRIES = frozenset(json.loads(Path(__file__).with_name("countries.json").read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class PlaceLine:
    """A text that names postcode and city. Units: start, end in characters."""

    postcode: str
    city: str
    state: str = ""
    country: str = ""
    start: int = 0
    end: int = 0


def find_place(text: str) -> PlaceLine | None:
    """Postcode and city of a text such as "80333 München", "75018 PARIS, FR" or "12 Main Street, Redmond, WA 98052"."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            named = match.groupdict()
            city = match["city"].strip(" ,")
            if (
                len(city) > 2
                and not re.search(r"[€$£%]", text)
                and not _NO_CITY.match(city)
                and not _STREET.search(city)
            ):
                state, country = named.get("state") or "", named.get("country") or ""
                return PlaceLine(match["postcode"], city, state, country, match.start(), match.end())
    return None


def lone_postcode(text: str) -> str:
    """The postcode that a line is, where the city stands on the line above (Britain, Ireland); "" for other lines."""
    match = _ALONE.match(text.strip())
    return match["postcode"] if match else ""


def is_country(text: str) -> bool:
    """Whether a text is the name of a country, in English, German, French or Dutch, or a code of two letters."""
    return bool(re.fullmatch(r"[A-Z]{2}", text.strip())) or any(
        fold(part.strip()) in _COUNTRIES for part in text.split("/")
    )
