import { table } from '../output.ts'
import { count } from '../progress-bar.ts'
import type { Created } from './create.ts'
import type { CurlLines, Login } from './login.ts'
import type { Visit } from './tour.ts'

/** What the demo did and how fast, as `--json` prints it. Memory in bytes, times in seconds unless they say otherwise. */
export type Figures = {
  readonly url: string
  readonly report: string
  readonly stones: number
  readonly createSeconds: number
  readonly stonesPerSecond: number
  /** From the last creation until all had their scores. */
  readonly scoreSeconds: number
  /** Scored a second, from the first creation on. */
  readonly scoresPerSecond: number
  readonly visits: readonly Visit[]
  /** The most memory that the service held; null where the system does not tell. */
  readonly serverMemory: number | null
  readonly totalSeconds: number
  /** Absent where the service ends with the demo. */
  readonly login?: Login
  readonly curl?: CurlLines
}

export function figuresOf(
  url: string,
  { stones, seconds, report }: Created,
  measured: Pick<Figures, 'scoreSeconds' | 'visits' | 'serverMemory' | 'totalSeconds'>,
): Figures {
  return {
    url,
    report,
    stones,
    createSeconds: seconds,
    stonesPerSecond: stones / seconds,
    scoresPerSecond: stones / (seconds + measured.scoreSeconds),
    ...measured,
  }
}

export function describe(figures: Figures): string {
  const { url, report, stones, createSeconds, stonesPerSecond, scoreSeconds, scoresPerSecond, visits, serverMemory } =
    figures
  const rows = visits.map(({ what, path, status, total, milliseconds }) => [
    `${milliseconds.toFixed(1)} ms`.padStart(9),
    String(status),
    count(total).padStart(6),
    what,
    `GET ${path}`,
  ])
  const memory =
    serverMemory === null ? '' : `memory    the service never held more than ${count(serverMemory / 2 ** 20)} MB`
  return [
    '',
    `created   ${count(stones)} stones in ${createSeconds.toFixed(1)} s, ${count(stonesPerSecond)} a second, each durable`,
    `scored    ${count(stones)} stones, the last ${scoreSeconds.toFixed(1)} s after its creation, ${count(scoresPerSecond)} a second`,
    `listed    through v3 and v4:`,
    table(['time'.padStart(9), 'status', ' total', 'what', 'request'], rows),
    ...(memory === '' ? [] : [memory]),
    `open      ${report}`,
    `service   ${url}, its reference ${url}/docs`,
    ...goingOn(figures),
  ].join('\n')
}

/** How to look around oneself, while the service is up. */
const goingOn = ({ url, login, curl }: Figures): string[] =>
  login === undefined || curl === undefined
    ? []
    : [
        `account   ${login.username}, password ${login.password}`,
        `look at   ${url}/inventory, with this account`,
        `client    ${login.client_id}, secret ${login.client_secret}`,
        '',
        'Two stones, and a token of your own:',
        `  ${curl.list}`,
        `  ${curl.token}`,
      ]
