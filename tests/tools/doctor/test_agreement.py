"""One cause is one finding, whichever exporters suffer from it and whichever of them says what is wrong."""

from llm_errors.tools.doctor.exporters import agreed
from llm_errors.tools.doctor.finding import fault, good
from llm_errors.tools.doctor.probe import UNREACHABLE, Refused

SPECIFIC = "This is a port for OTLP over HTTP."
CREDENTIALS = "The receiver refuses the credentials: check OTEL_EXPORTER_OTLP_HEADERS."


def refused(signal: str, complaint: str, remedy: str, address: str = "localhost:4318") -> Refused:
    return Refused(signal, "OTLP/gRPC", address, complaint, remedy)


def test_one_cause_is_told_once_with_the_signals_that_suffer_and_the_best_complaint():
    found = agreed(
        [
            refused("metrics", "refused", UNREACHABLE),
            refused("traces", "Failed parsing HTTP/2", SPECIFIC),
            refused("logs", "refused", UNREACHABLE),
        ]
    )
    assert found == [fault("metrics, traces, logs: OTLP/gRPC to localhost:4318: Failed parsing HTTP/2", SPECIFIC)]


def test_the_paths_of_the_signals_are_one_receiver():
    found = agreed(
        [
            Refused("metrics", "OTLP/HTTP", "http://collector:4318/v1/metrics", "code: 401", CREDENTIALS),
            Refused("traces", "OTLP/HTTP", "http://collector:4318/v1/traces", "code: 401", CREDENTIALS),
        ]
    )
    assert [f.what for f in found] == ["metrics, traces: OTLP/HTTP to http://collector:4318/v1/<signal>: code: 401"]


def test_a_signal_alone_keeps_its_address():
    (found,) = agreed([Refused("logs", "OTLP/HTTP", "http://collector:4318/v1/logs", "code: 404", "path")])
    assert found.what == "logs: OTLP/HTTP to http://collector:4318/v1/logs: code: 404"


def test_two_causes_at_one_receiver_are_two_findings():
    found = agreed([refused("metrics", "code: 401", CREDENTIALS), refused("logs", "code: 404", "path")])
    assert [f.remedy for f in found] == [CREDENTIALS, "path"]


def test_another_receiver_is_another_finding_and_good_ones_stay():
    accepted = good("logs: OTLP/gRPC to localhost:4318 accepts an empty request")
    found = agreed(
        [
            refused("metrics", "refused", UNREACHABLE, "localhost:4317"),
            refused("traces", "Failed parsing HTTP/2", SPECIFIC),
            accepted,
        ]
    )
    assert [f.remedy for f in found] == [UNREACHABLE, SPECIFIC, ""]
    assert found[-1] is accepted
