"""What MkDocs cannot know: which files of the repository are pages, and what the program says of itself. mkdocs.yml names this hook.

A page has the path of its file, so that its links are the same on the forge and on the site. HEMIOLA names the program.
"""

import glob
import json
import os
import pathlib
import posixpath
import re
import shutil
import subprocess
from urllib.parse import unquote

from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File

log = get_plugin_logger("site")
ROOT = pathlib.Path(__file__).resolve().parent.parent
API = ROOT / ".build" / "api"
CATALOGS = ["Sources/*/*.docc", "Plugins/*/*/*/*.docc"]
FILES = ["*.md", "docs/**/*.*", "Plugins/**/README.md", "Plugins/**/Pictures/*", *(f"{path}/*.md" for path in CATALOGS),
         "examples/README.md", "examples/*/README.md", "examples/*/*.png", "python/*.md"]
# The roles of plugins, and the titles of their lists.
ROLES = {"capture": "Captures", "analyzer": "Analyzers", "sink": "Sinks", "control": "Control sources"}
plugins = {}  # What a plugin declares, by the path of its page.


def program(*arguments):
    command = [os.environ.get("HEMIOLA", ROOT / ".build" / "release" / "hemiola"), *arguments]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def on_files(files, config):
    for pattern in FILES:
        for path in sorted(glob.glob(pattern, root_dir=ROOT, recursive=True)):
            if "/tests/" not in path:
                files.append(File(path, ROOT, config.site_dir, use_directory_urls=False))

    def generate(path, content):
        files.append(File.generated(config, path, content=content))

    heads = {(path.split("/")[1], (ROOT / path).read_text(encoding="utf-8").split(":")[0].split()[1]): path
             for path in glob.glob("Plugins/*/**/README.md", root_dir=ROOT, recursive=True)}
    for plugin in program("plugins", "--json"):
        kind = f"{plugin['role'].capitalize()}s"
        path = heads.get((kind, plugin["id"]))
        if not path:
            path = f"Plugins/{kind}/{plugin['id']}.md"
            generate(path, f"# {plugin['id']}\n\n{plugin['description']}\n")
        plugins[path] = plugin
    tree = program("--experimental-dump-help")["command"]
    commands = {f"commands/{command['commandName']}.md": command for command in tree["subcommands"]
                if command.get("shouldDisplay", True) and command["commandName"] != "help"}
    for path, command in commands.items():
        generate(path, command_page(command))
    generate("commands/index.md", "# Commands\n\n" + escape(tree["abstract"]) + "\n\n" + table(["command", "what it does"], [
        [f"[`{command['commandName']}`]({posixpath.basename(path)})", escape(command["abstract"])] for path, command in commands.items()
    ]) + "\n" + discussion(tree.get("discussion")))
    schema = program("schema")
    generate("fields/index.md", fields_page(schema, program("schema", "--summary")))
    generate("fields/schema.json", json.dumps(schema, indent=2))

    # In the navigation, a pattern stands for files, and a role for its plugins.
    def expanded(item):
        if isinstance(item, dict):
            return [{title: [leaf for child in value for leaf in expanded(child)] if isinstance(value, list) else value}
                    for title, value in item.items()]
        if item in ROLES:
            return [{plugin["id"]: path} for path, plugin in plugins.items() if plugin["role"] == item]
        return [path for path in files.src_uris if pathlib.PurePath(path).match(item)] if "*" in item else [item]

    config.nav = [leaf for item in config.nav for leaf in expanded(item)]
    return files


def on_page_markdown(markdown, page, config, files):
    path = page.file.src_uri
    if ".docc/" in path:
        markdown = re.sub(r"^## Overview\n", "", markdown, flags=re.MULTILINE)
        markdown = re.sub(r"<doc:(\w+)>", lambda match: article(match[1], path), markdown)
        markdown = re.sub(r"(?<!`)``(/?[A-Za-z_][^`\n]*)``(?!`)", lambda match: symbol(match[1], page), markdown)
    if path == "docs/api.md":
        markdown = markdown.replace("<!-- libraries -->", "\n".join(libraries()))
    if path == "Plugins/README.md":
        for role, title in ROLES.items():
            markdown += f"\n## {title}\n\n" + table(["id", "what it does"], [
                [f"[`{plugin['id']}`]({posixpath.relpath(target, 'Plugins')})", escape(plugin["description"])]
                for target, plugin in plugins.items() if plugin["role"] == role])
    if path in plugins:
        markdown += "\n\n" + declarations(plugins[path])
    if path in ("CHANGELOG.md", "CONTRIBUTING.md"):
        page.meta["search"] = {"boost": 0.2}

    def link(match):
        name, hash_sign, anchor = match[2].partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(name)))
        if not name or ":" in name or file in files.src_uris or not (ROOT / file).exists():
            return match[0]
        # The forge shows the README of a folder.
        if f"{file}/README.md" in files.src_uris:
            return f"{match[1]}{name.rstrip('/')}/README.md{hash_sign}{anchor}"
        return f"{match[1]}{config.repo_url}/{'tree' if (ROOT / file).is_dir() else 'blob'}/main/{file}{hash_sign}{anchor}"

    return re.sub(r"(\]\(|^\[[^\]\n]+\]: )([^)\s]+)", link, markdown, flags=re.MULTILINE)


def on_page_content(html, page, **_):
    """Puts the drawings into the page, so that they follow its light or dark scheme."""
    def drawing(match):
        file = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), match[1]))
        return '<div class="diagram">' + re.sub(r"^<\?xml[^>]*>", "", (ROOT / file).read_text(encoding="utf-8")) + "</div>"

    return re.sub(r'<p><img [^>]*src="([^":]+\.svg)"[^>]*></p>', drawing, html)


def on_post_page(output, page, **_):
    for address in re.findall(r'<(?:script|img|iframe)\b[^>]*\bsrc="(https?:[^"]*)"|<link rel="stylesheet" href="(https?:[^"]*)"', output):
        log.warning(f"{page.file.src_uri} loads {''.join(address)} from the network")


def on_post_build(config):
    site = pathlib.Path(config.site_dir)
    (site / "404.html").unlink()  # Its links work only at the root of a server.
    if API.is_dir():
        shutil.copytree(API, site / "api")


# Articles of DocC


def article(name, path):
    found = next((file for path in CATALOGS for file in ROOT.glob(f"{path}/{name}.md")), None)
    if not found:
        log.warning(f"{path}: <doc:{name}>: no such article")
        return name
    return f"[{found.read_text(encoding='utf-8').splitlines()[0].strip('# `')}]({posixpath.relpath(found, ROOT / posixpath.dirname(path))})"


def libraries():
    """A line for each library: its landing article and the article's first sentence."""
    for path in sorted((path for pattern in CATALOGS for path in ROOT.glob(pattern)), key=lambda path: path.stem):
        article = path / f"{path.stem}.md"
        summary = next(filter(None, article.read_text(encoding="utf-8").split("\n")[1:]))
        yield f"- [{path.stem}](../{article.relative_to(ROOT)}): {summary}"


def symbol(path, page):
    """A symbol as code, with a link to its page of the API if that is rendered."""
    name = re.sub(r"-[0-9a-z]{4,6}$", "", path.rpartition("/")[2])
    module = page.file.src_uri.split("/")[1]
    for candidate in (path.lstrip("/"), f"{module}/{path}"):
        if (API / "documentation" / candidate.lower() / "index.html").is_file():
            target = posixpath.relpath(f"api/documentation/{candidate.lower()}/index.html", posixpath.dirname(page.url) or ".")
            return f'<a href="{target}"><code>{name}</code></a>'
    return f"`{name}`"


# Pages from the program


def escape(text):
    """Text of a table's cell: no markup but options as code."""
    text = re.sub(r"([\\`*_{}\[\]|])", r"\\\1", text).replace("<", "&lt;").replace("\n", " ")
    return re.sub(r"(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]", r"`\g<0>`", text)


def table(head, rows):
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *rows])


def limits(item):
    """The range of a setting or value, or an empty text."""
    if item.get("choices"):
        return ", ".join(f"`{choice}`" for choice in item["choices"])
    low, high = ("" if item.get(key) is None else f"{item[key]:.15g}" for key in ("minimum", "maximum"))
    return f"{low}…{high}" if low or high else ""


def default(value):
    if value in (None, "", []) and value is not False:
        return "unset"
    if isinstance(value, list):
        return f"`{'+'.join(map(str, value))}`"
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value:.15g}`" if isinstance(value, float) else f"`{value}`"


def declarations(plugin):
    facts = [f"version {plugin['version']}"]
    if "latency_frames" in plugin:
        facts += [f"latency {plugin['latency_frames']} frames", "causal" if plugin.get("causal") else "not causal"]
    facts += ["uses the network"] if plugin.get("network") else []
    parts = [f"## Declarations\n\nAs `hemiola plugins {plugin['id']}` prints them: {', '.join(facts)}."]
    if plugin["examples"]:
        parts.append("```text\n" + "\n".join(plugin["examples"]) + "\n```")
    if plugin.get("libraries"):
        parts.append("### Libraries")
        parts.append(table(["library", "licence", "Debian package", "needed for"], [
            [f"`{item['soname']}`", item["licence"], f"`{item['package']}`", escape(item["use"])] for item in plugin["libraries"]]))
    if plugin["settings"]:
        primary = f" The key of `{plugin['primary']}` may be omitted." if plugin.get("primary") else ""
        parts.append(f"### Settings\n\nIn a SPEC: `{plugin['id']}:key=value,key=value`.{primary}")
        parts.append(table(["key", "type", "default", "range", "unit", "meaning"], [
            [f"`{item['key']}`", item["type"], default(item["default"]), limits(item), escape(item["unit"]), escape(item["description"])]
            for item in plugin["settings"]]))
    if plugin.get("outputs"):
        parts.append(f"### Outputs\n\nFor {plugin['sample_rate']} Hz and {plugin['channels']} channels, with default settings. "
                     "One object per batch contains them.")
        parts.append(table(["name", "values", "unit", "range", "meaning"], [
            [f"`{item['name']}`", str(item["count"]), escape(item.get("unit", "")), limits(item), escape(item["description"])]
            for item in plugin["outputs"]]))
    for key, title in {"records": "Records", "controls": "Controls",
                       "fallback_controls": "Controls if no other plugin of the pipeline handles them"}.items():
        if plugin.get(key):
            parts.append(f"### {title}")
            parts.append(table(["name", "meaning", "fields"], [
                [f"`{item['name']}`", escape(item["description"]), "<br>".join(map(field, item["fields"])) or "none"]
                for item in plugin[key]]))
    return "\n\n".join(parts) + "\n"


def field(item):
    """A field of a record or control."""
    parts = ["" if item["type"] == "choice" else item["type"], escape(item.get("unit", "")), limits(item)]
    return (f"`{item['name']}`: " + ", ".join(filter(None, parts)) + (", or null" if item.get("nullable") else "")
            + ("" if item.get("required", True) else ", optional"))


def discussion(text):
    """The text of a command's help: indented lines are code."""
    parts = re.split(r"^((?: {2}.*\n?)+)", text or "", flags=re.MULTILINE)
    return "\n".join(
        "\n```text\n" + re.sub("^ {2}", "", part, flags=re.MULTILINE).rstrip() + "\n```\n" if index % 2 else
        "\n".join(map(escape, part.split("\n"))) for index, part in enumerate(parts))


def command_page(command):
    def names(argument):
        if argument["kind"] == "positional":
            return f"`<{argument['valueName']}>`"
        texts = [("--" if name["kind"] == "long" else "-") + name["name"] for name in argument["names"]]
        if argument["kind"] == "option":
            texts[-1] += f" <{argument['valueName']}>"
        return ", ".join(f"`{text}`" for text in texts)

    sections = {}
    for argument in command.get("arguments", []):
        if argument.get("shouldDisplay", True):
            title = argument.get("sectionTitle") or ("Arguments" if argument["kind"] == "positional" else "Options")
            value = f" Default: `{argument['defaultValue']}`." if argument.get("defaultValue") else ""
            sections.setdefault(title, []).append([names(argument), escape(argument.get("abstract") or "") + value])
    return "\n\n".join([
        f"# hemiola {command['commandName']}", escape(command["abstract"]), discussion(command.get("discussion")),
        *(f"## {title[0].upper()}{title[1:]}\n\n" + table(["argument" if title == "Arguments" else "option", "meaning"], rows)
          for title, rows in sections.items())])


def fields_page(schema, summary):
    """The fields of every record, from the JSON Schemas."""
    def kind(entry, definitions):
        if "$ref" in entry:
            return kind(definitions[entry["$ref"].rpartition("/")[2]], definitions)
        if "const" in entry or "enum" in entry:
            return ", ".join(f"`{json.dumps(value)}`" for value in entry.get("enum", [entry.get("const")]))
        for key in ("anyOf", "oneOf"):
            if key in entry:
                return " or ".join(dict.fromkeys(kind(item, definitions) for item in entry[key]))
        kinds = entry.get("type", "any")
        texts = [f"list of {kind(entry['items'], definitions)}" if name == "array" and isinstance(entry.get("items"), dict) else name
                 for name in (kinds if isinstance(kinds, list) else [kinds])]
        return ", ".join(filter(None, [" or ".join(texts), limits(entry)]))

    def rows(record, definitions, prefix=""):
        for key, entry in record.get("properties", {}).items():
            optional = "" if key in record.get("required", []) else " (optional)"
            yield [f"`{prefix}{key}`{optional}", kind(entry, definitions), escape(entry.get("description", ""))]
            # The statistics of a feature have the same keys everywhere.
            if "mean" not in entry.get("properties", {}):
                yield from rows(entry, definitions, f"{prefix}{key}.")
            if isinstance(entry.get("items"), dict):
                yield from rows(entry["items"], definitions, f"{prefix}{key}[].")

    parts = ["# Fields of all records", "Generated from `hemiola schema`, the [JSON Schema](schema.json) of the records with the default "
             "analyzers. A dot leads into an object, `[]` into each element of a list. [summary](../Plugins/Sinks/Files/Summary/README.md) "
             "defines the statistics of a feature: `mean`, `stdev`, `p10`, `p50`, `p90` and `nulls`."]
    for document in (schema, summary):
        for reference in document["oneOf"]:
            name = reference["$ref"].rpartition("/")[2]
            record = document["$defs"][name]
            parts += [f"## {name}", escape(record.get("description", "")),
                      table(["field", "type", "meaning"], rows(record, document["$defs"]))]
    return "\n\n".join(parts)
