// Bloom: the light of a picture, halved several times and added up again.

const LEVELS = 5;

const DOWN = `
uniform sampler2D uSource;
uniform vec2 uTexel;
uniform float uShare;
void main() {
  vec4 sum = 4.0 * texture(uSource, vUV);
  sum += texture(uSource, vUV + uTexel * vec2(1, 1)) + texture(uSource, vUV + uTexel * vec2(-1, 1));
  sum += texture(uSource, vUV + uTexel * vec2(1, -1)) + texture(uSource, vUV + uTexel * vec2(-1, -1));
  color = min(sum / 8.0, vec4(60.0)) * uShare;
}`;

const UP = `
uniform sampler2D uSource;
uniform vec2 uTexel;
void main() {
  vec4 sum = 2.0 * (texture(uSource, vUV + uTexel * vec2(1, 1)) + texture(uSource, vUV + uTexel * vec2(-1, 1))
    + texture(uSource, vUV + uTexel * vec2(1, -1)) + texture(uSource, vUV + uTexel * vec2(-1, -1)));
  sum += texture(uSource, vUV + uTexel * vec2(2, 0)) + texture(uSource, vUV - uTexel * vec2(2, 0));
  sum += texture(uSource, vUV + uTexel * vec2(0, 2)) + texture(uSource, vUV - uTexel * vec2(0, 2));
  color = sum / 12.0 * 0.8;
}`;

export class Bloom {
    #levels = [];

    constructor(graphics, width, height) {
        this.graphics = graphics;
        this.down = graphics.program(DOWN);
        this.up = graphics.program(UP);
        this.resize(width, height);
    }

    resize(width, height) {
        for (const level of this.#levels) this.graphics.remove(level);
        this.#levels = [];
        for (let scale = 2; scale <= 2 ** LEVELS && Math.min(width, height) > 3 * scale; scale *= 2) {
            this.#levels.push(this.graphics.target(Math.ceil(width / scale), Math.ceil(height / scale)));
        }
    }

    /// Returns the target with the bloom of two pictures, of which the second has the share `progress`; of the smallest ones, undefined.
    draw(from, to, progress) {
        const { graphics, down, up } = this;
        const texel = ({ width, height }) => [1 / width, 1 / height];
        let source = to;
        for (const level of this.#levels) {
            const isBlend = source === to && progress < 1;
            graphics.draw(down, level, { uSource: source, uTexel: texel(source), uShare: isBlend ? progress : 1 });
            if (isBlend) graphics.draw(down, level, { uSource: from, uTexel: texel(from), uShare: 1 - progress }, { blend: "add" });
            source = level;
        }
        for (let index = this.#levels.length - 2; index >= 0; index -= 1) {
            const small = this.#levels[index + 1];
            graphics.draw(up, this.#levels[index], { uSource: small, uTexel: [0.5 / small.width, 0.5 / small.height] }, { blend: "add" });
        }
        return this.#levels[0];
    }
}
