"""A plain page: words and figures in one HTML file that needs no network and no script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair

TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{{ title }}</title>
<style>
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; background: rgba(127, 127, 127, .12); padding: .8rem; border-radius: .4rem; }
figure { margin: 1.5rem 0; background: #fff; padding: .5rem; border-radius: .4rem; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; }
figcaption { color: #333; font-size: .9rem; }
</style>
</head>
<body>
<h1>{{ title }}</h1>
{% for section in sections %}
<section>
<h2>{{ section.heading }}</h2>
{% for paragraph in section.paragraphs %}<p>{{ paragraph }}</p>
{% endfor %}
{% if section.listing %}<pre>{{ section.listing }}</pre>{% endif %}
{% if section.figure %}<figure>
{{ section.figure | safe }}
<figcaption>{{ section.caption }}</figcaption></figure>{% endif %}
</section>
{% endfor %}
</body>
</html>
"""


@dataclass(frozen=True)
class Section:
    """A heading with words, a listing and a figure, each of them optional. Whatever comes from data is escaped."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    listing: str = ""
    figure: str = ""
    """SVG, as `svg` makes it."""
    caption: str = ""


def svg(chart: altair.TopLevelMixin) -> str:
    """A chart as a static picture."""
    import vl_convert

    return vl_convert.vegalite_to_svg(json.loads(chart.to_json()))


def render(title: str, sections: Sequence[Section]) -> str:
    """The whole page as text."""
    import jinja2

    return jinja2.Environment(autoescape=True).from_string(TEMPLATE).render(title=title, sections=sections)
