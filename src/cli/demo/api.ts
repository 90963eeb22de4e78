import { Failed } from '../../maintenance/operation.ts'

export type ApiAnswer = {
  readonly status: number
  /** Parsed JSON, undefined for an empty body. */
  readonly body: unknown
  /** X-Total-Count of a list. */
  readonly total: number
  /** Targets of the Link header by relation. */
  readonly links: Readonly<Record<string, string>>
  readonly milliseconds: number
}

/** A client of the running service, as anybody would write one. */
export class ApiClient {
  private constructor(
    private readonly address: string,
    readonly token: string,
  ) {}

  /** Logs in by the password grant. @throws Failed when the service refuses */
  static async logIn(address: string, credentials: Readonly<Record<string, string>>): Promise<ApiClient> {
    const form = new URLSearchParams({ grant_type: 'password', ...credentials })
    const response = await fetch(`${address}/api/oauth/v2/token`, { method: 'POST', body: form })
    const body = (await response.json()) as Record<string, unknown>
    if (!response.ok) throw new Failed(`The token server answered ${response.status}: ${JSON.stringify(body)}`)
    return new ApiClient(address, String(body['access_token']))
  }

  /** @throws Failed for a status over 299 */
  get(path: string): Promise<ApiAnswer> {
    return this.#send('GET', path)
  }

  /** @throws Failed for a status over 299 */
  post(path: string, body: object): Promise<ApiAnswer> {
    return this.#send('POST', path, JSON.stringify(body))
  }

  async #send(method: string, path: string, content?: string): Promise<ApiAnswer> {
    const started = performance.now()
    const response = await fetch(new URL(path, this.address), {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...(content && { 'Content-Type': 'application/json' }) },
      ...(content !== undefined && { body: content }),
    })
    const text = await response.text()
    const milliseconds = performance.now() - started
    if (!response.ok) throw new Failed(`${method} ${path} was answered ${response.status}: ${text.slice(0, 500)}`)
    const { headers } = response
    return {
      status: response.status,
      body: text === '' ? undefined : JSON.parse(text),
      total: Number(headers.get('X-Total-Count') ?? 0),
      links: linksIn(headers.get('Link') ?? ''),
      milliseconds,
    }
  }
}

/** RFC 8288: `<target>; rel="next", ...` */
function linksIn(header: string): Record<string, string> {
  return Object.fromEntries([...header.matchAll(/<([^>]*)>; rel="?(\w+)"?/g)].map(([, target, rel]) => [rel, target]))
}

/** What somebody needs to go on where the demo ends: it exists as long as the demo's service does. */
export type Login = {
  readonly username: string
  readonly password: string
  readonly client_id: string
  readonly client_secret: string
}

/** Lines to be pasted into a shell. */
export type CurlLines = {
  /** Lists stones with the demo's token. */
  readonly list: string
  /** Fetches a token of one's own. */
  readonly token: string
}

export function curlLines(url: string, login: Login, token: string): CurlLines {
  const form = Object.entries({ grant_type: 'password', ...login }).map(
    ([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`,
  )
  return {
    // -g: the brackets of a filter are no pattern of curl's.
    list: `curl -s -g ${quoted(`${url}/v4/diamond?limit=2&f[isColored]=0`)} -H ${quoted(`Authorization: Bearer ${token}`)}`,
    token: `curl -s ${quoted(`${url}/api/oauth/v2/token`)} ${form.join(' ')}`,
  }
}

/** As sh takes it for one word, whatever is in it. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
