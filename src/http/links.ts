import { createHmac, timingSafeEqual } from 'node:crypto'
import { ADDRESS, SIGNED } from '../domain/diamond/placeholders.ts'

/** Signed links kept at most: a list page shows the same stones again and again, and an HMAC costs 3 us. */
const KEPT = 20_000

/** Makes stored bodies ready to send: puts in the service's address and the signatures, neither of which is stored. */
export class Links {
  readonly #signed = new Map<string, string>()

  /**
   * @param address where links start, such as https://api.example.com
   * @param key 32 bytes
   */
  constructor(
    readonly address: string,
    private readonly key: Buffer,
  ) {}

  finish(body: string): string {
    let from = body.indexOf(ADDRESS)
    if (from < 0) return body
    let text = body.slice(0, from)
    while (from >= 0) {
      const next = body.indexOf(ADDRESS, from + 1)
      text += this.#link(body.slice(from + 1, next < 0 ? undefined : next))
      from = next
    }
    return text
  }

  /** 22 URL-safe characters that open a path; they are of no use for another one. */
  signature(path: string): string {
    return createHmac('sha256', this.key).update(path).digest().subarray(0, 16).toString('base64url')
  }

  /** In constant time, whatever is given. */
  opens(path: string, given: string): boolean {
    const wanted = Buffer.from(this.signature(path))
    const got = Buffer.from(given)
    return wanted.length === got.length && timingSafeEqual(wanted, got)
  }

  /** @param rest of a body, starting with a path */
  #link(rest: string): string {
    const mark = rest.indexOf(SIGNED)
    const end = mark < 0 ? -1 : rest.indexOf('"')
    if (mark < 0 || mark > end) return this.address + rest
    return this.#signedLink(rest.slice(0, mark)) + rest.slice(mark + 1)
  }

  #signedLink(path: string): string {
    const known = this.#signed.get(path)
    if (known !== undefined) return known
    if (this.#signed.size >= KEPT) this.#signed.clear()
    const link = `${this.address}${path}?signature=${this.signature(path)}`
    this.#signed.set(path, link)
    return link
  }
}
