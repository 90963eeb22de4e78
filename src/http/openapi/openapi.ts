import { z } from 'zod'
import { ok } from '../kit/answer.ts'
import { anybody, endpoint } from '../kit/endpoint.ts'
import { platform } from '../kit/errors.ts'

export type OpenApiServices = {
  readonly openApi: {
    /**
     * The description of the API as JSON text: the same for as long as the service runs. It is made for the first who asks,
     * which takes some 80 ms that every start would take.
     */
    readonly text: () => string
  }
}

/** Its outermost members; the rest is as https://spec.openapis.org/oas/v3.1.0 has it. */
const DESCRIPTION = z
  .looseObject({
    openapi: z.string(),
    info: z.looseObject({ title: z.string(), version: z.string() }),
    paths: z.looseObject({}),
  })
  .meta({ id: 'Description' })

export const describeApi = endpoint({
  name: 'describeApi',
  method: 'GET',
  path: '/openapi.json',
  about: 'This API in OpenAPI 3.1: every path, parameter, body, answer and error.',
  who: anybody,
  family: platform,
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
  answers: { 200: { about: 'The description', schema: DESCRIPTION } },
  run: (_asked, { openApi: { text } }: OpenApiServices) => ok(text()),
})
