import { OperationFailure } from '../../maintenance/operation.ts'
import { formatCount, table } from '../output.ts'
import type { DemoApiResponse, ApiClient, CurlLines, DemoCredentials } from './server.ts'
import { skuOf, type StoneCreationResult } from './stones.ts'

/** One list that was asked for, and what came. */
export type MeasuredListRequest = {
  readonly what: string
  readonly path: string
  readonly status: number
  readonly total: number
  readonly milliseconds: number
}

/**
 * Lists and filters what was created, through both versions of the API, and checks every total.
 * @throws Failed when an answer is not what was created
 */
export async function checkListEndpoints(
  api: ApiClient,
  { stones, startedAtMs, endedAtMs }: StoneCreationResult,
): Promise<MeasuredListRequest[]> {
  const visits: MeasuredListRequest[] = []

  async function visit(what: string, path: string, total: number | undefined): Promise<DemoApiResponse> {
    const answer = await api.get(path)
    if (total !== undefined && answer.total !== total) {
      throw new OperationFailure(`GET ${path} (${what}) counts ${answer.total} stones where ${total} were created`)
    }
    visits.push({ what, path, status: answer.status, total: answer.total, milliseconds: answer.milliseconds })
    return answer
  }

  for (const version of ['v4', 'v3']) {
    const list = `/${version}/diamond`
    const first = await visit('the first page', list, stones)
    if (first.links['next'] !== undefined) await visit('its next page, by Link', pathOf(first.links['next']), stones)
    if (first.links['last'] !== undefined) await visit('the last page, by Link', pathOf(first.links['last']), stones)
    await visit('one sku', `${list}?f[sku][]=${skuOf(stones)}`, 1)
    await visit('colourless', `${list}?f[isColored]=0`, stones)
    await visit('fancy coloured: none, 204', `${list}?f[isColored]=1`, 0)
    await visit(
      'all dates of the demo',
      `${list}?f[dateFrom]=${formatCompactTime(startedAtMs)}&f[dateTo]=${formatCompactTime(endedAtMs)}`,
      stones,
    )
    await visit(
      'the first half of the time',
      `${list}?f[dateTo]=${formatCompactTime((startedAtMs + endedAtMs) / 2)}`,
      undefined,
    )
  }
  await visit('published', '/v3/diamond?f[isPublished]=1', 0)
  return visits
}

const pathOf = (link: string) => link.slice(new URL(link).origin.length)

/** `20141127T211100+0000`, percent-encoded. */
const formatCompactTime = (time: number) =>
  new Date(time).toISOString().slice(0, 19).replaceAll(/[-:]/g, '') + '%2B0000'

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
  readonly visits: readonly MeasuredListRequest[]
  /** The most memory that the service held; null where the system does not tell. */
  readonly serverMemory: number | null
  readonly totalSeconds: number
  /** Absent where the service ends with the demo. */
  readonly login?: DemoCredentials
  readonly curl?: CurlLines
}

export function figuresOf(
  url: string,
  { stones, seconds, reportUrl }: StoneCreationResult,
  measured: Pick<Figures, 'scoreSeconds' | 'visits' | 'serverMemory' | 'totalSeconds'>,
): Figures {
  return {
    url,
    report: reportUrl,
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
    formatCount(total).padStart(6),
    what,
    `GET ${path}`,
  ])
  const memory =
    serverMemory === null ? '' : `memory    the service never held more than ${formatCount(serverMemory / 2 ** 20)} MB`
  return [
    '',
    `created   ${formatCount(stones)} stones in ${createSeconds.toFixed(1)} s, ${formatCount(stonesPerSecond)} a second, each durable`,
    `scored    ${formatCount(stones)} stones, the last ${scoreSeconds.toFixed(1)} s after its creation, ${formatCount(scoresPerSecond)} a second`,
    `listed    through v3 and v4:`,
    table(['time'.padStart(9), 'status', ' total', 'what', 'request'], rows),
    ...(memory === '' ? [] : [memory]),
    `open      ${report}`,
    `service   ${url}, its reference ${url}/docs`,
    ...nextStepLines(figures),
  ].join('\n')
}

/** How to look around oneself, while the service is up. */
const nextStepLines = ({ url, login, curl }: Figures): string[] =>
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
