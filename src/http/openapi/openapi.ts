import { ok } from '../kit/answer.ts'
import { anybody, endpoint } from '../kit/endpoint.ts'
import { platform } from '../kit/errors.ts'

export type OpenApiServices = {
  readonly openApi: {
    /** The description of the API as JSON text: the same for as long as the service runs. */
    readonly text: string
  }
}

export const describeApi = endpoint({
  name: 'describeApi',
  method: 'GET',
  path: '/openapi.json',
  about: 'This API in OpenAPI 3.1: every path, parameter, body, answer and error.',
  who: anybody,
  family: platform,
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
  answers: { 200: { about: 'The description', media: 'application/json' } },
  run: (_asked, { openApi: { text } }: OpenApiServices) => ok(text),
})
