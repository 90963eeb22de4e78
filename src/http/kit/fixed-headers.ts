import { VERSION } from '../../runtime/version.ts'

/** Seconds that a browser remembers to come by https: a year. Other names of the domain are not ours to speak for. */
const HTTPS_LIFE = 31_536_000

/** Headers of every answer, also where the request was not readable as HTTP. */
export const fixedHeaders = (https: boolean): Record<string, string> => ({
  'X-App-Version': VERSION,
  'X-Content-Type-Options': 'nosniff',
  ...(https && { 'Strict-Transport-Security': `max-age=${HTTPS_LIFE}` }),
})
