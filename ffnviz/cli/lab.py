"""`ffnviz lab`: what textbooks say of the FFN, tested on a sentence."""

from collections.abc import Sequence
from typing import Any

import click
import torch

from ffnviz.analysis.lab import Tested, try_all
from ffnviz.analysis.lab.experiment import Finding, Said, Subject, Verdict
from ffnviz.cli import options
from ffnviz.models.device import device_name
from ffnviz.models.network import Network, NotForThisNetwork
from ffnviz.models.token_slice import usual_token
from ffnviz.models.trace import Trace

JSON = "All claims as JSON instead of a list; blocks and tokens are counted from 1 there, too."


@click.command()
@options.on_a_block(threads=1)
@click.option(
    "--token",
    type=click.IntRange(1),
    help=f"{options.FROM_1}; the first [MASK], or the last word, if absent.",
)
@options.json_option(JSON)
def lab(network: Network, trace: Trace, block: int, token: int | None, as_json: bool) -> None:
    """Test every claim of the Lab on a sentence, with computed verdicts."""
    if token is not None and token > len(trace.tokens):
        raise click.BadParameter(
            f"there are {len(trace.tokens)} tokens, counted from 1.", param_hint="--token"
        )
    chosen = usual_token(trace.tokens, network.tokenizer.mask_id) if token is None else token - 1
    subject = Subject(network, trace, block - 1, chosen)
    with options.reported(NotForThisNetwork):
        tested = options.with_bar("claims", lambda progress: try_all(subject, progress))
    report = {
        "on": device_name(network.device),
        "pytorch": torch.__version__,
        "twin": network.card.id,
        "network": network.card.label,
        "block": block,
        "n_blocks": network.sizes.n_blocks,
        "text": trace.text,
        "token": chosen + 1,
        "n_tokens": len(trace.tokens),
        "claims": [claim for each in tested for claim in _claims(each)],
        "not_tested": {e.experiment.title: e.why_not for e in tested if e.why_not},
        "counted": _counted([finding for each in tested for finding in each.findings]),
    }
    if as_json:
        options.show_json(report)
    else:
        click.echo(_listed(report))


def _claims(tested: Tested) -> list[dict[str, Any]]:
    return [
        {
            "experiment": tested.experiment.name,
            "said": str(finding.said),
            "source": finding.source,
            "claim": finding.claim,
            "verdict": str(finding.verdict),
            "verdict_text": finding.verdict_text,
            "expected": finding.expected,
            "measured": finding.measured,
            "value": finding.check.value,
            "relation": finding.check.relation,
            "tolerance": finding.check.tolerance,
            "unit": finding.check.unit,
        }
        for finding in tested.findings
    ]


def _counted(findings: Sequence[Finding]) -> dict[str, dict[str, int]]:
    """How many claims have each verdict, by who makes them."""
    return {
        str(said): {
            str(verdict): sum(f.said is said and f.verdict is verdict for f in findings)
            for verdict in Verdict
        }
        for said in Said
    }


def _listed(report: dict[str, Any]) -> str:
    lines = [
        f"{report['network']}, block {report['block']} of {report['n_blocks']}, "
        f"token {report['token']} of {report['n_tokens']}; "
        f"{report['on']}; PyTorch {report['pytorch']}"
    ]
    experiment = None
    for claim in report["claims"]:
        if claim["experiment"] != experiment:
            experiment = claim["experiment"]
            lines += ["", experiment]
        source = "Often thought" if claim["said"] == Said.PEOPLE else claim["source"]
        lines += [
            f"  {Verdict(claim['verdict']).sign} {source}{': ' if source else ''}{claim['claim']}",
            f"    {claim['verdict_text']}: {claim['measured']}",
        ]
    for title, why_not in report["not_tested"].items():
        lines += ["", f"{title}: not tested. {why_not}"]
    lines.append("")
    for said, counts in report["counted"].items():
        verdicts = ", ".join(f"{verdict} {n}" for verdict, n in counts.items() if n)
        lines.append(f"{said[0].upper()}{said[1:]}: {sum(counts.values())} claims: {verdicts}")
    return "\n".join(lines)
