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
