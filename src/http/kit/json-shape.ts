import { Refusal } from '../../domain/refusal.ts'

/** Levels of a body; a diamond in a bulk request has five. What walks through a body need not fear for the stack. */
const DEPTH_MAX = 100

/** What a body may have: 500 stones as they were read, with their scores and certifications, come to 30,000. */
const VALUES_MAX = 50_000

/**
 * Counts what a JSON text is made of while it arrives, so that it is refused before anybody parses it: a million members
 * in a body of 8 MiB would keep the parser, and with it everybody else, for seconds. It checks nothing else.
 */
export class JsonShape {
  #depth = 0
  #isDeep = false
  #values = 0
  #inText = false
  #escaped = false

  /** @param valuesMax members and elements, of all levels together */
  constructor(private readonly valuesMax: number = VALUES_MAX) {}

  /** @throws Refusal too-large where it has too many values */
  take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]
      if (this.#escaped) this.#escaped = false
      else if (byte === QUOTE) this.#inText = !this.#inText
      else if (this.#inText) this.#escaped = byte === BACKSLASH
      else if (byte === COMMA) this.#count()
      else if (byte === BRACE || byte === BRACKET) this.#enter()
      else if (byte === END_BRACE || byte === END_BRACKET) this.#depth--
    }
  }

  /** @throws Refusal invalid where it was nested too deep, malformed where that had no end either */
  end(): void {
    if (!this.#isDeep) return
    if (this.#depth !== 0) throw new Refusal('malformed', 'The body is not JSON: not everything that begins in it ends')
    throw new Refusal('invalid', `The body is nested over ${DEPTH_MAX} levels deep`)
  }

  #enter(): void {
    if (++this.#depth > DEPTH_MAX) this.#isDeep = true
    this.#count()
  }

  #count(): void {
    // It is not going to be parsed: how much more there is does not matter.
    if (this.#isDeep || ++this.#values <= this.valuesMax) return
    const most = this.valuesMax.toLocaleString('en')
    throw new Refusal('too-large', `The body may have at most ${most} values, members and elements together`)
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const BRACE = 0x7b
const BRACKET = 0x5b
const END_BRACE = 0x7d
const END_BRACKET = 0x5d
