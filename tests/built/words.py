"""Plain English, as CONTRIBUTING.md asks for it, found out from the text.

    words.py FILE...

Prints each sentence of the files' comments, docstrings or prose that has more
than 25 words, or a turn of phrase that hides its actor; the exit status is
then 1. Code, figures, tables, headings and signatures are no sentences.
"""
import io
import pathlib
import re
import sys
import tokenize

WORDS = 25
HIDDEN = re.compile(r"\b(who|whom|whoever|whomever)\b|"
                    r"\b(is|are|was|were) to be\b|\bto be had\b|"
                    r"\bso far as that\b|\bthere (is|are) none of\b", re.I)
MARK = r"([*-]|\d+\.) "                  # of a list's entry
FIGURE = re.compile(r"\s{3,}\S|--+>|<--|\|")


# Where text stands in a file: (line, text) of each piece --------------------

def of_c(text):
    for found in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.S):
        lines = re.sub(r"\*/$", "", found.group()).splitlines()
        yield (text.count("\n", 0, found.start()) + 1,
               "\n".join(re.sub(r"^\s*(/\*+|//|\*)", "", line)
                         for line in lines))


def of_python(text):
    """Docstrings, and comments: lines that follow each other are one."""
    block, first, begins = [], 0, True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            first = first if block else token.start[0]
            block.append(token.string.lstrip("#"))
        elif token.type != tokenize.NL and block:
            yield first, "\n".join(block)
            block = []
        if token.type == tokenize.STRING and begins:
            yield token.start[0], token.string.strip('rbf"')
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT,
                                    tokenize.DEDENT)


def of_shell(text):
    block = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        found = re.match(r"\s*#(?!!)(.*)", line)
        if found:
            block.append(found.group(1))
        elif block:
            yield number - len(block), "\n".join(block)
            block = []


def of_prose(text):
    yield 1, re.sub(r"```.*?```", lambda code: "\n" * code.group().count("\n"),
                    text, flags=re.S)


READERS = {".c": of_c, ".h": of_c, ".S": of_c, ".cc": of_c, ".cpp": of_c,
           ".cu": of_c, ".def": of_c, ".py": of_python, ".md": of_prose,
           ".sh": of_shell, ".cmake": of_shell, ".toml": of_shell,
           ".txt": of_shell}


# Sentences ------------------------------------------------------------------

def paragraphs(first, text):
    """(line, text) of what is no figure. A list's entry is a paragraph."""
    lines, start = [], first
    for number, line in enumerate([*text.splitlines(), ""], first):
        bare = line.strip()
        entry = re.match(MARK, bare)
        figure = (not bare or bare[0] in "|#=+^>" or line.startswith("    ")
                  or FIGURE.search(bare))
        if (figure or entry) and lines:
            yield start, " ".join(lines)
            lines = []
        if not figure:
            start = start if lines else number
            lines.append(re.sub("^" + MARK, "", bare))


def sentences(first, text):
    for line, paragraph in paragraphs(first, text):
        for sentence in re.split(r"(?<=[.!?:;])\s+", paragraph):
            yield line, sentence


def wrong(path):
    """(line, what is wrong, the sentence) of a file."""
    reader = READERS.get(path.suffix)
    for first, text in reader(path.read_text()) if reader else ():
        for line, sentence in sentences(first, text):
            count, hidden = len(sentence.split()), HIDDEN.search(sentence)
            if hidden:
                yield line, f"«{hidden.group()}»", sentence
            if count > WORDS:
                yield line, f"{count} words", sentence


def main(*paths):
    status = 0
    for path in map(pathlib.Path, paths):
        for line, why, sentence in wrong(path):
            print(f"{path}:{line}: {why}: {sentence}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
