"""A program on a pseudo-terminal, whose control sequences pyte interprets, and a picture of its screen."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte
from PIL import Image, ImageDraw, ImageFont


class Terminal:
    """Starts a program on a terminal of its own; `close` kills it."""

    def __init__(self, arguments, environment=(), columns=100, rows=30, errors=None):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.bytes = b""
        self.status = None
        # Whether the last process of the terminal has ended.
        self.is_over = False
        self.identifier, self.master = pty.fork()
        if self.identifier == 0:
            if errors:
                os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT, 0o644), 2)
            os.execve(arguments[0], arguments, {
                **{name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM")},
                "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **dict(environment)})
        self.resize(columns, rows)

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def type(self, text):
        os.write(self.master, text.encode())

    def kill(self, number):
        os.kill(self.identifier, number)

    def read(self, end):
        """Reads what arrives next, before a time. Returns whether something can follow."""
        rest = end - time.monotonic()
        if rest <= 0 or self.is_over or not select.select([self.master], [], [], rest)[0]:
            return False
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            self.is_over = True
            return False
        self.bytes += data
        self.stream.feed(data)
        return True

    def until(self, is_so, what, seconds=60):
        end = time.monotonic() + seconds
        while not is_so(self):
            assert self.read(end) or is_so(self), f"nothing came of: {what}; the screen:\n{self.text}"

    def rest(self, seconds):
        """Reads for a time in which nothing is expected: an absence has no event."""
        end = time.monotonic() + seconds
        while self.read(end):
            pass

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    @property
    def is_in_line_mode(self):
        flags = termios.tcgetattr(self.master)[3]
        return bool(flags & termios.ICANON) and bool(flags & termios.ECHO)

    def finish(self, seconds=30):
        """Waits for the end. Returns the exit status, or 128 and the number of the signal."""
        end = time.monotonic() + seconds
        while self.read(end):
            pass
        process = os.pidfd_open(self.identifier)
        has_ended = select.select([process], [], [], max(0, end - time.monotonic()))[0]
        os.close(process)
        assert has_ended, "timeout while waiting for the end"
        status = os.waitstatus_to_exitcode(os.waitpid(self.identifier, 0)[1])
        self.status = status if status >= 0 else 128 - status
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.identifier, signal.SIGKILL)
            os.waitpid(self.identifier, 0)
        os.close(self.master)

    # pyte's names of colours, which are those of xterm.
    COLORS = dict(
        black="000000", red="cd0000", green="00cd00", brown="cdcd00", blue="0000ee", magenta="cd00cd", cyan="00cdcd", white="e5e5e5",
        brightblack="7f7f7f", brightred="ff0000", brightgreen="00ff00", brightbrown="ffff00", brightblue="5c5cff",
        brightmagenta="ff00ff", brightcyan="00ffff", brightwhite="ffffff")

    def picture(self, path, cell=(9, 18)):
        """Writes the screen as a PNG."""
        width, height = cell
        image = Image.new("RGB", (self.screen.columns * width, self.screen.lines * height), "#000000")
        draw = ImageDraw.Draw(image)
        fonts = {bold: ImageFont.truetype(f"/usr/share/fonts/truetype/dejavu/DejaVuSansMono{'-Bold' * bold}.ttf", 15) for bold in (0, 1)}
        for row in range(self.screen.lines):
            for column in range(self.screen.columns):
                character = self.screen.buffer[row][column]
                front, back = (
                    "#" + (self.COLORS.get(color, color) if color != "default" else default)
                    for color, default in ((character.fg, "e5e5e5"), (character.bg, "000000")))
                x, y = column * width, row * height
                draw.rectangle((x, y, x + width - 1, y + height - 1), back)
                block = "▁▂▃▄▅▆▇█".find(character.data) + 1 if character.data else 0
                if block:
                    draw.rectangle((x, y + height - block * height // 8, x + width - 1, y + height - 1), front)
                elif character.data == "▀":
                    draw.rectangle((x, y, x + width - 1, y + height // 2 - 1), front)
                elif character.data and "\u2800" <= character.data <= "\u28ff":
                    # Braille patterns, which few fonts have.
                    for bit, (dot_column, dot_row) in enumerate([(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]):
                        if ord(character.data) >> bit & 1:
                            left, top = x + 2 + dot_column * width // 2, y + 2 + dot_row * height // 4
                            draw.rectangle((left, top, left + 1, top + 1), front)
                elif character.data and character.data != " ":
                    draw.text((x, y), character.data, front, fonts[character.bold])
        image.save(path, optimize=True)
