"""Collects the Markdown files of the repository as pages of the site, and converts their links."""

import html
import pathlib
import posixpath
import re
import urllib.parse

from documentation import markdown

REPOSITORY = "https://github.com/hemiola/hemiola"
SYMBOL = re.compile(r"(?<!`)``(/?[A-Za-z_][^`]*)``(?!`)")
# Folders that have a page of their own.
FOLDERS = {"Plugins": "plugins/index.md"}
PICTURES = {".png", ".svg", ".webp", ".apng", ".gif", ".jpg"}


class Site:
    """The pages of the site by their file in the repository, and the folder that they are written to."""

    def __init__(self, root, folder, api):
        self.root, self.folder, self.api = root, folder, api
        # The path of the page in the site by the path of the file in the repository.
        self.pages = {}
        self.titles = {}
        self.problems = []

    def add(self, source, page):
        self.pages[source] = page
        self.titles[source] = markdown.title((self.root / source).read_text(encoding="utf-8"))

    def write(self, page, text):
        path = self.folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def converted(self, source):
        """The text of a file as it is on its page."""
        page = self.pages[source]
        text = (self.root / source).read_text(encoding="utf-8")
        if ".docc/" in source:
            text = self.article(source, page, text)
        anchors = {number: anchor for number, _, _, anchor in markdown.headings(text)}
        links = {}
        for link in markdown.links(text):
            links.setdefault(link.line, []).append(link)
        lines = []
        for number, line, plain in markdown.prose(text):
            for link in reversed(links.get(number, [])):
                line = line[:link.start] + self.link(source, page, number, link.target) + line[link.end:]
            if plain is not None and number in anchors:
                # The same anchors as on GitHub.
                line = f"{line} {{ #{anchors[number]} }}"
            if plain is not None and re.fullmatch(r"!\[[^\]]*\]\([^)]*\.svg\)", line.strip()):
                line = self.diagram(source, line.strip())
            lines.append(line)
        return "\n".join(lines)

    # Links

    def link(self, source, page, line, target):
        """The target of a link on the page."""
        # A link to a symbol was made by `symbol`.
        if re.match(r"^([a-zA-Z][a-zA-Z0-9+.-]*:|#|(\.\./)*api/)", target):
            return target
        name, hash_sign, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), urllib.parse.unquote(name)))
        found = self.pages.get(file) or self.pages.get(f"{file}/README.md") or FOLDERS.get(file)
        if found:
            return posixpath.relpath(found, posixpath.dirname(page) or ".") + hash_sign + anchor
        path = self.root / file
        if not path.exists():
            self.problems.append(f"{source}:{line}: {target}: no such file or folder")
            return target
        if path.suffix in PICTURES:
            return self.asset(page, file)
        return f"{REPOSITORY}/{'tree' if path.is_dir() else 'blob'}/main/{urllib.parse.quote(file)}{hash_sign}{anchor}"

    def asset(self, page, file):
        """Copies a picture into the site and returns the link to it."""
        copy = self.folder / "pictures" / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((self.root / file).read_bytes())
        return posixpath.relpath(posixpath.join("pictures", file), posixpath.dirname(page) or ".")

    def diagram(self, source, line):
        """An SVG file of the documents as part of the page, so that it follows the page's light or dark scheme."""
        name = re.search(r"\]\(([^)]*)\)", line)[1]
        text = (self.folder / posixpath.normpath(posixpath.join(posixpath.dirname(self.pages[source]), name))).read_text(encoding="utf-8")
        text = re.sub(r"^<\?xml[^>]*>", "", text).strip()
        return '<div class="diagram">' + re.sub(r"\s*\n\s*", " ", text) + "</div>"

    # Articles of DocC catalogs

    def libraries(self):
        """The libraries that have a landing article, as (name with a link, first sentence of the article)."""
        found = []
        for path in sorted(self.root.glob("Sources/*/*.docc")):
            text = (path / f"{path.stem}.md").read_text(encoding="utf-8")
            summary = next((line for line in text.split("\n")[1:] if line.strip()), "")
            found.append((self.symbol(path.stem, "api.md", f"/{path.stem}"), summary))
        return found

    def article(self, source, page, text):
        """Converts an article: links to articles and symbols, without the headings that only DocC needs."""
        module = source.split("/")[1]
        articles = {posixpath.basename(path).removesuffix(".md"): path for path in self.pages if ".docc/" in path}
        lines, topics = [], False
        for number, line, plain in markdown.prose(text):
            if plain is not None and line.startswith("## "):
                topics = line.strip() == "## Topics"
                if line.strip() == "## Overview":
                    continue
            if topics:
                continue
            if plain is not None:
                def article_link(match):
                    if match[1] not in articles:
                        self.problems.append(f"{source}:{number}: {match[0]}: no such article")
                        return match[0]
                    path = articles[match[1]]
                    return f"[{self.titles[path]}]({posixpath.relpath(path, posixpath.dirname(source))})"
                line = re.sub(r"<doc:([^>]*)>", article_link, line)
                line = SYMBOL.sub(lambda match: self.symbol(module, page, match[1]), line)
            lines.append(line)
        return "\n".join(lines)

    def symbol(self, module, page, path):
        """A symbol as code, with a link to its page of the API if that is part of the site."""
        name = path.rpartition("/")[2]
        name = re.sub(r"-[0-9a-z]{4,6}$", "", name)
        parts = path.lstrip("/").split("/")
        candidates = [parts] if path.startswith("/") else [[module, *parts], parts]
        for candidate in candidates:
            file = "documentation/" + "/".join(candidate).lower() + "/index.html"
            if self.api and (self.api / file).is_file():
                target = posixpath.relpath(f"api/{file}", posixpath.dirname(page) or ".")
                return f'<a href="{html.escape(urllib.parse.quote(target))}"><code>{html.escape(name)}</code></a>'
        return f"`{name}`"


def articles(root):
    """The articles of all DocC catalogs, without the landing articles: paths relative to the root."""
    found = []
    for path in sorted(root.glob("Sources/*/*.docc/*.md")):
        if path.stem != path.parent.stem:
            found.append(path.relative_to(root).as_posix())
    return found


def kebab(name):
    """WriteAnAnalyzer → write-an-analyzer"""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", pathlib.PurePosixPath(name).stem).lower()
