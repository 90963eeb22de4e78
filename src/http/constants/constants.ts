import { createHash } from 'node:crypto'
import { z } from 'zod'
import { DICTIONARIES } from '../../domain/diamond/fields.ts'
import { constants, scoringGrades, type ScoringName } from '../../domain/dictionaries/constants.ts'
import { findCutShape, cutShapeTree } from '../../domain/dictionaries/shapes.ts'
import { RequestError } from '../../domain/request-error.ts'
import { VERSION } from '../../runtime/version.ts'
import type { HttpResponse } from '../kit/response.ts'
import { publicAccess, endpoint } from '../kit/endpoint.ts'
import { publicDataGroup } from '../kit/errors.ts'
import { integerPathParameter } from '../kit/path-parameters.ts'

const id = z.int().min(1)

const title = z.string()

const SHAPE = z.strictObject({ id, title }).meta({ id: 'CutShape' })

const ENTRY = z.object({
  id,
  title,
  short: z.string(),
  position: z.int().describe('Position on the scale. Lists are sorted by it.'),
  abbreviation: z.string().optional(),
})

const DICTIONARY_ENTRY = ENTRY.extend({
  children: z.array(ENTRY).optional().describe('Neighbouring hues.'),
}).meta({ id: 'DictionaryEntry' })

const ver = z.string().describe('The version of the scoring model.')

const grades = z.array(z.number()).length(6).describe('Upper bounds of the grades P, F, G, VG, EX and OU.')

const schemaForEach = <Name extends string, Schema>(names: readonly Name[], schema: Schema) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<Name, Schema>

export const CONSTANTS = z
  .strictObject({
    ver: z.string().describe('The platform version, as in X-App-Version.'),
    dict: z.strictObject({
      cutShape: z.array(SHAPE),
      ...schemaForEach(Object.keys(DICTIONARIES) as (keyof typeof DICTIONARIES)[], z.array(DICTIONARY_ENTRY)),
    }),
    scoring: z.strictObject({
      fluorescence: z.strictObject({ ver }),
      ...schemaForEach(Object.keys(scoringGrades) as ScoringName[], z.strictObject({ grades, ver })),
    }),
  })
  .meta({ id: 'Constants' })

const NOT_MODIFIED = { 304: 'Not modified: the ETag in If-None-Match is current' }

export const readConstants = endpoint({
  operationId: 'readConstants',
  method: 'GET',
  path: '/v2/constants',
  summary: 'Retrieve the constants: the dictionaries of all fields and the scoring constants',
  auth: publicAccess,
  group: publicDataGroup,
  responses: {
    200: { description: 'The constants', schema: CONSTANTS, headers: { ETag: 'Changes with the release' } },
    ...NOT_MODIFIED,
  },
  handler: () => constantsResponse,
})

/** Clients should cache the constants until X-App-Version changes; the hour limits clients that do not check it. */
const CACHE = 'public, max-age=3600'

const constantsResponse = cacheableResponse(constants(VERSION))

function cacheableResponse(value: object): HttpResponse {
  const body = Buffer.from(JSON.stringify(value))
  const digest = createHash('sha256').update(body).digest('base64url').slice(0, 27)
  return { status: 200, headers: { ETag: `"${digest}"`, 'Cache-Control': CACHE }, body }
}

export const CUT_SHAPE_TREE = z.array(
  z.strictObject({ id, title, children: z.array(SHAPE) }).meta({ id: 'CutShapeWithVariants' }),
)

export const listCutShapes = endpoint({
  operationId: 'listCutShapes',
  method: 'GET',
  path: '/v2/cutshapes',
  summary: 'List the cut shapes as a tree',
  auth: publicAccess,
  group: publicDataGroup,
  responses: {
    200: { description: 'The tree', schema: CUT_SHAPE_TREE, headers: { ETag: 'Changes with the release' } },
    ...NOT_MODIFIED,
  },
  handler: () => cutShapesResponse,
})

const cutShapesResponse = cacheableResponse(cutShapeTree())

export const CUT_SHAPE_DETAIL = z
  .strictObject({
    id,
    title,
    parent: z.int().nullable().describe('The id of the shape that this shape is a variant of.'),
    aliases: z.array(z.string()).describe('Other names accepted as input.'),
    children: z.array(SHAPE).describe('Variants of this shape.'),
  })
  .meta({ id: 'CutShapeDetail' })

export const readCutShape = endpoint({
  operationId: 'readCutShape',
  method: 'GET',
  path: '/v2/cutshapes/{id}',
  summary: 'Retrieve a cut shape',
  auth: publicAccess,
  pathParameters: { id: integerPathParameter('The id of a cut shape.') },
  group: publicDataGroup,
  responses: {
    200: { description: 'The shape', schema: CUT_SHAPE_DETAIL, headers: { ETag: 'Changes with the release' } },
    ...NOT_MODIFIED,
    404: 'No such cut shape',
  },
  handler: ({ params: { id } }) => cacheableResponse(requireCutShape(id)),
})

function requireCutShape(text: string) {
  const detail = /^[1-9]\d{0,8}$/.test(text) ? findCutShape(Number(text)) : undefined
  if (detail === undefined)
    throw new RequestError('missing', `There is no cut shape ${text.slice(0, 40)}; GET /v2/cutshapes lists them`)
  return detail
}
