"""Generates the pages of the site that come from declarations: plugins, commands and records."""

import json
import re

ROLES = {"capture": "Captures", "analyzer": "Analyzers", "sink": "Sinks"}


OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]")


def escape(text):
    """Text for a cell of a table: no markup but the names of options as code, no line breaks."""
    for character in "\\`*_{}[]|":
        text = text.replace(character, "\\" + character)
    return OPTION.sub(r"`\g<0>`", text.replace("<", "&lt;").replace("\n", " "))


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def number(value):
    """A number without a decimal point if it is whole."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def bounds(item):
    """The range of a setting or value, or an empty text."""
    if item.get("choices"):
        return ", ".join(f"`{choice}`" for choice in item["choices"])
    low, high = item.get("minimum"), item.get("maximum")
    if low is None and high is None:
        return ""
    return f"{'' if low is None else number(low)}…{'' if high is None else number(high)}"


def default(setting):
    value = setting.get("default")
    if value is None or value == [] or value == "":
        return "unset"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return "`" + ("+".join(map(str, value)) if isinstance(value, list) else number(value)) + "`"


def library_table(libraries):
    return table(["library", "content"], [[name, text.replace("|", "\\|")] for name, text in libraries])


# Plugins


def plugin_page(plugin, read_me):
    """The page of a plugin: its README, if it has one, and its declarations."""
    parts = [read_me.rstrip() if read_me else f"# {plugin['id']}\n\n{plugin['description']}"]
    facts = [f"A {plugin['role']}" if plugin["role"] != "analyzer" else "An analyzer", f"version {plugin['version']}"]
    if "latency_frames" in plugin:
        facts.append(f"latency {plugin['latency_frames']} frames")
        facts.append("causal" if plugin.get("causal") else "not causal")
    parts.append("## Declarations\n")
    parts.append(
        f"{', '.join(facts)}. This part of the page is generated from the declarations of the program: `hemiola plugins {plugin['id']}` "
        "prints the same.\n")
    if plugin["examples"]:
        parts.append("```text\n" + "\n".join(plugin["examples"]) + "\n```\n")
    if plugin["settings"]:
        primary = f" The key of `{plugin['primary']}` may be omitted." if plugin.get("primary") else ""
        parts.append(f"### Declared settings\n\nIn a SPEC: `{plugin['id']}:key=value,key=value`.{primary}\n")
        parts.append(table(
            ["key", "type", "default", "range", "unit", "meaning"],
            [[f"`{item['key']}`", item["type"], default(item), bounds(item), escape(item.get("unit", "")), escape(item["description"])]
             for item in plugin["settings"]]))
    if plugin.get("outputs"):
        parts.append(
            f"### Declared outputs\n\nFor {plugin['sample_rate']} Hz and {plugin['channels']} channels, with default settings. One object per "
            "batch contains them.\n")
        parts.append(table(
            ["name", "values", "unit", "range", "meaning"],
            [[f"`{item['name']}`", str(item["count"]), escape(item.get("unit", "")), bounds(item), escape(item["description"])]
             for item in plugin["outputs"]]))
    for key, title in (
            ("records", "Records"), ("controls", "Declared controls"),
            ("fallback_controls", "Controls if no other plugin of the pipeline handles them")):
        if plugin.get(key):
            parts.append(f"### {title}\n")
            parts.append(table(
                ["name", "meaning", "fields"],
                [[f"`{item['name']}`", escape(item["description"]), fields(item["fields"])] for item in plugin[key]]))
    return "\n".join(parts)


def fields(items):
    """The fields of a record or control in one cell."""
    def describe(item):
        optional = "" if item.get("required", True) else ", optional"
        unit = f", {escape(item['unit'])}" if item.get("unit") else ""
        limits = f", {bounds(item)}" if bounds(item) else ""
        null = ", or null" if item.get("nullable") else ""
        kind = "" if item["type"] == "choice" else f" {item['type']}"
        return f"`{item['name']}`:{kind}{unit}{limits.removeprefix(', ') if not kind else limits}{null}{optional}".replace(":,", ":")
    return "<br>".join(describe(item) for item in items) or "none"


def plugin_index(plugins, pages):
    """The list of all plugins, by role."""
    parts = [
        "# Plugins\n",
        "Captures read audio, analyzers compute features and events, sinks write or send them. Every plugin is used by its id; "
        "`id:key=value` changes settings. This list is generated from the program: `hemiola plugins` prints it, `hemiola plugins ID` one "
        "plugin, and `hemiola plugins --json` all declarations.\n"]
    for role, title in ROLES.items():
        rows = [[f"[`{item['id']}`]({pages[item['id']]})", escape(item["description"])] for item in plugins if item["role"] == role]
        parts.append(f"## {title}\n\n" + table(["id", "what it does"], rows))
    parts.append(
        "## Syntax\n\n`id[:primary][,key=value…]`, for example `spectrum:bands=32,scale=linear` or `json-lines:/tmp/out.jsonl`. `primary` "
        "is the value of the plugin's main setting; items of a list are joined with `+`. `--analyzer +ID` adds an analyzer to the default "
        "ones; without `+` it replaces them.\n\nThe guides [Write an analyzer](../guides/write-an-analyzer.md), "
        "[Write a sink](../guides/write-a-sink.md), [Write a capture](../guides/write-a-capture.md) and "
        "[Write a director](../guides/write-a-director.md) show how to add a plugin.\n")
    return "\n".join(parts)


# Commands


def names_of(argument):
    """An argument as it is written on the command line."""
    if argument["kind"] == "positional":
        return f"`<{argument['valueName']}>`"
    dashes = {"short": "-", "long": "--", "longWithSingleDash": "-"}
    value = f" <{argument['valueName']}>" if argument["kind"] == "option" else ""
    names = [dashes[name["kind"]] + name["name"] for name in argument["names"]]
    return ", ".join(f"`{name}{value if name == names[-1] else ''}`" for name in names)


def discussion(text):
    """The text of a command's help: indented lines are code."""
    lines, code = [], False
    for line in (text or "").split("\n"):
        indented = line.startswith("  ")
        if indented != code and (indented or line.strip()):
            lines.append("```text" if indented else "```\n")
            code = indented
            if indented and lines[-2:-1] and lines[-2].strip():
                lines.insert(-1, "")
        lines.append(line.removeprefix("  ") if code else escape(line))
    return "\n".join(lines + (["```"] if code else [])) + "\n"


def command_page(command):
    """The page of a subcommand: its help."""
    parts = [f"# hemiola {command['commandName']}\n", escape(command["abstract"]) + "\n", discussion(command.get("discussion"))]
    sections = {}
    for argument in command.get("arguments", []):
        if argument.get("shouldDisplay", True):
            default_title = "Arguments" if argument["kind"] == "positional" else "Options"
            sections.setdefault(argument.get("sectionTitle") or default_title, []).append(argument)
    for title, arguments in sections.items():
        rows = []
        for argument in arguments:
            text = escape(argument.get("abstract") or "")
            if argument.get("defaultValue"):
                text += f" Default: `{argument['defaultValue']}`."
            rows.append([names_of(argument), text])
        parts.append(f"## {title[0].upper()}{title[1:]}\n\n" + table(["option" if title != "Arguments" else "argument", "meaning"], rows))
    return "\n".join(parts)


def command_index(help_text, pages):
    """The list of all subcommands."""
    command = help_text["command"]
    rows = [[f"[`{name}`]({path})", escape(item["abstract"])] for name, path, item in pages]
    return "\n".join([
        "# Commands\n", escape(command["abstract"]) + "\n", table(["command", "what it does"], rows),
        discussion(command.get("discussion")),
        "These pages are generated from the help of the program: `hemiola help COMMAND` prints the same.\n"])


def commands(help_text):
    """The subcommands that have a page."""
    return [
        item for item in help_text["command"]["subcommands"] if item.get("shouldDisplay", True) and item["commandName"] != "help"]


# Records


def schema_type(entry, definitions):
    """A short text for the type of a field in the JSON Schema."""
    if "$ref" in entry:
        return schema_type(definitions[entry["$ref"].rpartition("/")[2]], definitions)
    if "const" in entry:
        return f"`{json.dumps(entry['const'])}`"
    if "enum" in entry:
        return ", ".join(f"`{value}`" if isinstance(value, str) else json.dumps(value) for value in entry["enum"])
    for key in ("anyOf", "oneOf"):
        if key in entry:
            return " or ".join(dict.fromkeys(schema_type(item, definitions) for item in entry[key]))
    kinds = entry.get("type", "any")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    texts = []
    for kind in kinds:
        if kind == "array" and isinstance(entry.get("items"), dict):
            texts.append(f"list of {schema_type(entry['items'], definitions)}")
        else:
            texts.append(kind)
    limits = bounds(entry)
    return " or ".join(texts) + (f", {limits}" if limits else "")


def field_rows(record, definitions, prefix=""):
    """A row per field of a record or object, those of objects below it with dotted names."""
    required = set(record.get("required", []))
    for key, entry in record.get("properties", {}).items():
        name = f"{prefix}{key}"
        yield [f"`{name}`" + ("" if key in required else " (optional)"), schema_type(entry, definitions), escape(entry.get("description", ""))]
        # The statistics of a feature have the same keys everywhere.
        if entry.get("properties") and "mean" not in entry["properties"]:
            yield from field_rows(entry, definitions, f"{name}.")
        elif entry.get("items", {}).get("properties"):
            yield from field_rows(entry["items"], definitions, f"{name}[].")


def record_page(schema, summary):
    """The fields of every record, from the JSON Schema, and those of the record of `--summary`."""
    parts = [
        "# Fields of all records\n",
        "Generated from `hemiola schema`, the [JSON Schema](schema.json) of the records with the default analyzers. "
        "[Records](records.md) explains them, [Columns](columns.md) shows how to read them as a table, and "
        "[Visualizers](visualizers.md) describes the messages of clients. A dot leads into an object, `[]` into each element of a list.\n"]
    for document in (schema, summary):
        definitions = document["$defs"]
        for reference in document["oneOf"]:
            name = reference["$ref"].rpartition("/")[2]
            record = definitions[name]
            parts.append(f"## {name}\n\n{escape(record.get('description', ''))}\n")
            parts.append(table(["field", "type", "meaning"], field_rows(record, definitions)))
    parts.append(
        "An object in `features` has `mean`, `stdev`, `p10`, `p50`, `p90` and `nulls` of a feature: "
        "[summary](../plugins/summary.md) defines them.\n")
    return "\n".join(parts)
