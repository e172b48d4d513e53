# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Removes conditions from C sources: those of the preprocessor (by unifdef), and macros that only they made necessary."""

import re
import subprocess


class Trouble(Exception):
    """An error that is reported to the user without a traceback."""


def unifdef(text, options):
    """The text for one outcome of all the conditions that the options -DNAME, -DNAME=VALUE and -UNAME decide."""
    result = subprocess.run(["unifdef", *options], input=text, capture_output=True, text=True, check=False)
    if result.returncode > 1:
        raise Trouble(f"unifdef: {result.stderr.strip()}")
    return result.stdout


def definitions(text):
    """Macros of a header, as {name: (parameters or None, body)}, in their order."""
    found = {}
    for name, parameters, body in re.findall(r"^#define (\w+)(\([\w, ]*\))?[ \t]*((?:.*\\\n)*.*)$", text, re.M):
        lines = [line.rstrip("\\").rstrip() for line in body.split("\n")]
        names = None if not parameters else [word.strip() for word in parameters[1:-1].split(",")]
        found[name] = names, "\n".join(lines).strip("\n")
    return found


def split_arguments(text, start):
    """The arguments of a call whose opening parenthesis is at start, and where it ends."""
    depth, begin, found = 0, start + 1, []
    for i in range(start, len(text)):
        if text[i] == "(":
            depth += 1
        elif text[i] == ")":
            depth -= 1
        if (text[i] == "," and depth == 1) or not depth:
            found.append(text[begin:i].strip())
            begin = i + 1
        if not depth:
            return found, i + 1
    raise Trouble("a call without an end")


def parenthesized(text):
    """Is all of it in one pair of parentheses?"""
    return text.startswith("(") and split_arguments(text, 0)[1] == len(text)


def body_of(macro, arguments):
    parameters, body = macro
    values = dict(zip(parameters or [], arguments))
    if not values:
        return body

    def value(match):
        """Parentheses that only protect a parameter go where nothing needs them."""
        name = match.group(1) or match.group(2)
        plain = re.fullmatch(r"[\w.>-]+", values[name])
        return values[name] if plain or not match.group(1) else f"({values[name]})"

    names = "|".join(values)
    return re.sub(rf"(?<!\w)\(({names})\)|\b({names})\b", value, body)


def expand(text, macros):
    """The text with these macros expanded."""
    for name, macro in macros.items():
        at = 0
        while match := re.compile(rf"\b{name}\b").search(text, at):
            start, end, arguments = match.start(), match.end(), []
            if macro[0] is not None:
                arguments, end = split_arguments(text, end)
            body = body_of(macro, arguments).strip()
            before, after = text[:start].rstrip(), text[end:].lstrip()
            if parenthesized(body) and after[:1] in {";", ",", ")"} and re.search(r"(=|\(|,|return)$", before):
                body = body[1:-1]
            text = text[:start] + body + text[end:]
            at = start + len(body)
    return text


def replaced(text, *pairs):
    """The text with each first string replaced by the second; each has to be there."""
    for old, new in pairs:
        if old not in text:
            raise Trouble(f"not found: {old!r}")
        text = text.replace(old, new)
    return text
