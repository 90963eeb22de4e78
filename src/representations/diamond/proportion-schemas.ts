import { z } from 'zod'
import { FIELDS, memberNameOf, PROPORTION_FIELDS, type ProportionField } from '../../domain/diamond/fields.ts'
import { exampleObject, mustBe } from '../parse.ts'
import { documentationOf, fieldSchema, outputSchema } from './field-schemas.ts'

const ABOUT =
  "The stone's proportions as its owner states them. Scores use them where no 3D file and no report says more."

const members = (schemaOf: (name: ProportionField) => z.ZodType) =>
  Object.fromEntries(
    PROPORTION_FIELDS.map((name) => [memberNameOf(name), schemaOf(name).meta(documentationOf(name, 'v4'))]),
  )

const MUST_BE_OBJECT = mustBe('an object such as {"table": 57}')

const CHANGES = members((name) => fieldSchema(name, 'v4').nullish())

/** What most reports of rounds state. */
const EXAMPLE_MEMBERS = ['length', 'width', 'height', 'table', 'depth', 'crownAngle', 'pavilionAngle']

/** `proportions` in a request. null removes a value, or all; in a diamond to create it means absent. */
export const PROPORTION_CHANGES = z
  .strictObject(CHANGES, {
    error: ({ code, input }) => (code === 'invalid_type' ? MUST_BE_OBJECT.error({ input }) : undefined),
  })
  .meta({ id: 'ProportionChanges', examples: [exampleObject(CHANGES, EXAMPLE_MEMBERS)] })
  .nullish()
  .describe(ABOUT)

/** `proportions` in an answer: the members that are set. */
export const PROPORTIONS = z
  .strictObject(members((name) => outputSchema(FIELDS[name], 'v4').optional()))
  .meta({ id: 'Proportions' })
  .optional()
  .describe(`${ABOUT} Absent if none is set.`)

export const PROPORTION_WARNINGS = z
  .array(z.string())
  .optional()
  .describe('Proportions that scores do not use because they contradict each other; absent without any.')
