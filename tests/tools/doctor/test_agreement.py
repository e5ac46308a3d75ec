"""Exporters of one receiver get one remedy, whichever of them says what is wrong."""

from llm_errors.tools.doctor.exporters import agreed
from llm_errors.tools.doctor.finding import fault, good
from llm_errors.tools.doctor.probe import UNREACHABLE

SPECIFIC = "This is a port for OTLP over HTTP."


def test_what_one_exporter_says_holds_for_the_others_of_its_receiver():
    found = [
        fault("metrics: OTLP/gRPC to http://localhost:4318: refused", UNREACHABLE),
        fault("traces: OTLP/gRPC to http://localhost:4318: Failed parsing HTTP/2", SPECIFIC),
    ]
    assert [f.remedy for f in agreed(found)] == [SPECIFIC, SPECIFIC]


def test_another_receiver_keeps_its_own_remedy():
    found = [
        fault("metrics: OTLP/gRPC to localhost:4317: refused", UNREACHABLE),
        fault("traces: OTLP/gRPC to localhost:4318: Failed parsing HTTP/2", SPECIFIC),
        good("logs: OTLP/gRPC to localhost:4318 accepts an empty request"),
    ]
    assert [f.remedy for f in agreed(found)] == [UNREACHABLE, SPECIFIC, ""]
