"""XML as a stream of tags, each with its line; what makes XML swell or fetch is refused."""

from __future__ import annotations

import io
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler, ErrorHandler, LexicalHandler, property_lexical_handler
from xml.sax.xmlreader import InputSource

from defusedxml.common import DefusedXmlException
from defusedxml.sax import make_parser

from leverrier.errors import LeverrierError
from leverrier.formats.draft import Source, shown


class Tags(ContentHandler, LexicalHandler):
    """What reads a format's tags builds on this."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source

    @property
    def _line(self) -> int:
        return int(self._locator.getLineNumber() or 1)  # type: ignore[attr-defined]

    def startDTD(self, name: str, public_id: str | None, system_id: str | None) -> None:  # noqa: ARG002
        if public_id is not None or system_id is not None:
            raise self.source.error("the DOCTYPE refers to something outside the file: remove it", self._line)

    def skippedEntity(self, name: str) -> None:
        raise self.source.error(f"the entity {shown(name)} is not declared", self._line)


def parse(data: bytes | str, reading: Tags, source: Source) -> None:
    """Show every tag to `reading`; bytes say their own encoding."""
    stream = InputSource()
    stream.setByteStream(io.BytesIO(data.encode() if isinstance(data, str) else data))
    if isinstance(data, str):
        stream.setEncoding("utf-8")  # whatever the text says of the bytes it once came from
    parser = make_parser()  # refuses declarations of entities
    parser.setContentHandler(reading)
    parser.setProperty(property_lexical_handler, reading)
    parser.setErrorHandler(ErrorHandler())
    try:
        parser.parse(stream)
    except LeverrierError:
        raise
    except SAXParseException as error:
        raise source.error(f"not well-formed XML: {error.getMessage()}", error.getLineNumber()) from error
    except DefusedXmlException as error:
        raise source.error("the file declares an entity: remove its DOCTYPE", parser.getLineNumber()) from error
    except (LookupError, ValueError) as error:
        raise source.error(f"the XML's encoding cannot be read: {error}", parser.getLineNumber()) from error
