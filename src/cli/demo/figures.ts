import { OperationFailure } from '../../maintenance/operation.ts'
import { formatCount, formatQuantity, table } from '../output.ts'
import type { DemoApiResponse, ApiClient, CurlLines, DemoCredentials } from './server.ts'
import { skuOf, type StoneCreationResult } from './stones.ts'

/** A list request of the demo and its response. */
type MeasuredListRequest = {
  readonly what: string
  readonly path: string
  readonly status: number
  readonly total: number
  readonly milliseconds: number
}

/**
 * Lists and filters the created diamonds through both versions of the API, and checks the totals.
 * @throws OperationFailure if a total is wrong
 */
export async function checkListEndpoints(
  api: ApiClient,
  { stones, startedAtMs, endedAtMs }: StoneCreationResult,
): Promise<MeasuredListRequest[]> {
  const requests: MeasuredListRequest[] = []

  async function checkList(description: string, path: string, total: number | undefined): Promise<DemoApiResponse> {
    const response = await api.get(path)
    if (total !== undefined && response.total !== total) {
      throw new OperationFailure(`GET ${path} (${description}): X-Total-Count must be ${total}, got ${response.total}`)
    }
    requests.push({
      what: description,
      path,
      status: response.status,
      total: response.total,
      milliseconds: response.milliseconds,
    })
    return response
  }

  for (const version of ['v4', 'v3']) {
    const list = `/${version}/diamond`
    const first = await checkList('the first page', list, stones)
    if (first.links['next'] !== undefined)
      await checkList('its next page, by Link', pathOf(first.links['next']), stones)
    if (first.links['last'] !== undefined)
      await checkList('the last page, by Link', pathOf(first.links['last']), stones)
    await checkList('one sku', `${list}?f[sku][]=${skuOf(stones)}`, 1)
    await checkList('colourless', `${list}?f[isColored]=0`, stones)
    await checkList('fancy coloured: none, 204', `${list}?f[isColored]=1`, 0)
    await checkList(
      'all dates of the demo',
      `${list}?f[dateFrom]=${formatCompactTime(startedAtMs)}&f[dateTo]=${formatCompactTime(endedAtMs)}`,
      stones,
    )
    await checkList(
      'the first half of the time',
      `${list}?f[dateTo]=${formatCompactTime((startedAtMs + endedAtMs) / 2)}`,
      undefined,
    )
  }
  await checkList('published', '/v3/diamond?f[isPublished]=1', 0)
  return requests
}

const pathOf = (link: string) => link.slice(new URL(link).origin.length)

/** `20141127T211100+0000`, percent-encoded. */
const formatCompactTime = (timeMs: number) =>
  new Date(timeMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '') + '%2B0000'

/** The result of the demo, as `--json` prints it. Memory in bytes, times in seconds unless their name says otherwise. */
export type Figures = {
  readonly url: string
  readonly report: string
  readonly stones: number
  readonly createSeconds: number
  readonly stonesPerSecond: number
  /** From the creation of the last diamond until all were scored. */
  readonly scoreSeconds: number
  /** Average from the first creation until all were scored. */
  readonly scoresPerSecond: number
  readonly visits: readonly MeasuredListRequest[]
  /** Peak memory of the service; null if the system does not report it. */
  readonly serverMemory: number | null
  readonly totalSeconds: number
  /** Absent with `--exit`, as the service then stops with the demo. */
  readonly login?: DemoCredentials
  readonly curl?: CurlLines
}

export function figuresOf(
  url: string,
  { stones, seconds, reportUrl }: StoneCreationResult,
  measurements: Pick<Figures, 'scoreSeconds' | 'visits' | 'serverMemory' | 'totalSeconds'>,
): Figures {
  return {
    url,
    report: reportUrl,
    stones,
    createSeconds: seconds,
    stonesPerSecond: stones / seconds,
    scoresPerSecond: stones / (seconds + measurements.scoreSeconds),
    ...measurements,
  }
}

/** The result of the demo as text. */
export function describeFigures(figures: Figures): string {
  const { url, report, stones, createSeconds, stonesPerSecond, scoreSeconds, scoresPerSecond, visits, serverMemory } =
    figures
  const rows = visits.map(({ what, path, status, total, milliseconds }) => [
    `${milliseconds.toFixed(1)} ms`.padStart(9),
    String(status),
    formatCount(total).padStart(6),
    what,
    `GET ${path}`,
  ])
  const memory = serverMemory === null ? '' : `memory    ${formatCount(serverMemory / 2 ** 20)} MB at the peak`
  return [
    '',
    `created   ${formatQuantity(stones, 'stone')} in ${createSeconds.toFixed(1)} s, ${formatCount(stonesPerSecond)}/s, each durable`,
    `scored    ${formatQuantity(stones, 'stone')}, ${formatCount(scoresPerSecond)}/s, finished ${scoreSeconds.toFixed(1)} s after the last one was created`,
    `listed    through v3 and v4:`,
    table(['time'.padStart(9), 'status', ' total', 'what', 'request'], rows),
    ...(memory === '' ? [] : [memory]),
    `open      ${report}`,
    `service   ${url}, API reference ${url}/docs`,
    ...nextStepLines(figures),
  ].join('\n')
}

/** How to explore the service while it runs. */
const nextStepLines = ({ url, login, curl }: Figures): string[] =>
  login === undefined || curl === undefined
    ? []
    : [
        `account   ${login.username}, password ${login.password}`,
        `browse    ${url}/inventory, log in with this account`,
        `client    ${login.client_id}, secret ${login.client_secret}`,
        '',
        'List two stones, and get an access token:',
        `  ${curl.list}`,
        `  ${curl.token}`,
      ]
