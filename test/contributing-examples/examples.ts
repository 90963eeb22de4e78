import type { Example } from './example.ts'

/** The worked examples of CONTRIBUTING.md: a demanding one of each kind. */
export const EXAMPLES: readonly Example[] = [
  {
    title: 'Add a field',
    row: 'a field that is filtered, sorted and scored',
    folder: 'field',
    edits: [
      {
        file: 'src/domain/diamond/fields.ts',
        find: '  access: level(',
        becomes:
          "  culetWidth: amount({ over: 0, to: 20, versions: ['v4'], scored: true, filtered: ['v4'], sorted: 'both ways' }),\n  access: level(",
      },
      { file: 'src/domain/diamond/fields.ts', find: 'FIELDS_VERSION = 2', becomes: 'FIELDS_VERSION = 3' },
      {
        file: 'src/representations/diamond/field-descriptions.ts',
        find: '  culetSize: {',
        becomes: `  culetWidth: {
    about: "Width of the culet in percent of the stone's width. Scores are computed from it if culetSize is not given.",
    example: 0.9,
    headings: ['Culet %', 'Culet width'],
    label: 'Culet width',
    filter: 'Culet width',
    orders: ['Smallest culet first', 'Largest culet first'],
  },
  culetSize: {`,
      },
      {
        file: 'src/domain/diamond/scored-stone.ts',
        find: "optionalMember('culet', culetOf(fields.culetSize)),",
        becomes: "optionalMember('culet', culetOf(fields.culetSize) ?? culetOfWidth(fields.culetWidth)),",
      },
      {
        file: 'src/domain/diamond/scored-stone.ts',
        find: 'function girdleOf(',
        becomes: `/** The size of a culet of this width in percent. */
const culetOfWidth = (width: number | null): Culet | undefined =>
  width === null ? undefined : width > 5 ? 'Very Large' : 'Medium'

function girdleOf(`,
      },
      {
        // The whole table, because a longer row changes the width of its column.
        file: 'docs/api.md',
        find: [
          '| kind     | parameters                                                                                                                                                                                      |',
          '| -------- | ----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------- |',
          '| values   | `f[cutShape][]`, `f[color][]`, `f[clarity][]`: a title, short form, alias or id; a shape below the top level means itself alone                                                                 |',
          '| booleans | `f[isColored]`, `f[isLabGrown]`, `f[hasScores]`                                                                                                                                                 |',
          '| ranges   | `f[caratFrom]`, `f[caratTo]`, `f[priceFrom]`, `f[priceTo]`, `f[integralFrom]`, `f[integralTo]` (`scores.integral.val`), both ends included                                                      |',
          '| `sort`   | `-date` (default, newest first), `date`, `carat`, `-carat`, `price`, `-price`, `sku`, `integral`, `-integral`. Ties are ordered by id in the same direction; stones without the value come last |',
        ].join('\n'),
        becomes: [
          '| kind     | parameters                                                                                                                                                                                                                   |',
          '| -------- | ---------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------- |',
          '| values   | `f[cutShape][]`, `f[color][]`, `f[clarity][]`: a title, short form, alias or id; a shape below the top level means itself alone                                                                                              |',
          '| booleans | `f[isColored]`, `f[isLabGrown]`, `f[hasScores]`                                                                                                                                                                              |',
          '| ranges   | `f[caratFrom]`, `f[caratTo]`, `f[priceFrom]`, `f[priceTo]`, `f[culetWidthFrom]`, `f[culetWidthTo]`, `f[integralFrom]`, `f[integralTo]` (`scores.integral.val`), both ends included                                           |',
          '| `sort`   | `-date` (default, newest first), `date`, `carat`, `-carat`, `price`, `-price`, `sku`, `culetWidth`, `-culetWidth`, `integral`, `-integral`. Ties are ordered by id in the same direction; stones without the value come last |',
        ].join('\n'),
      },
      {
        file: 'test/api/create-diamond.test.ts',
        find: "  girdle: 'Thin-Medium',\n",
        becomes: "  girdle: 'Thin-Medium',\n  culetWidth: null,\n",
      },
      {
        file: 'test/api/create-diamond.test.ts',
        find: 'culetSize,girdle,date,access',
        becomes: 'culetSize,girdle,culetWidth,date,access',
      },
      {
        file: 'test/cli/export.test.ts',
        find: 'proportions.pavilionAngle,access',
        becomes: 'proportions.pavilionAngle,culetWidth,access',
      },
      {
        file: 'test/trade-files/columns.test.ts',
        find: "  Treatment: 'treatment',\n",
        becomes: "  Treatment: 'treatment',\n  'Culet %': 'culetWidth',\n",
      },
      {
        file: 'test/domain/diamond/fields.test.ts',
        find: "  girdle: 'Thin-Medium',\n",
        becomes: "  girdle: 'Thin-Medium',\n  culetWidth: 0.9,\n",
      },
      {
        file: 'test/domain/diamond/scored-stone.test.ts',
        find: "test('has the grades, each from its dictionary'",
        becomes: `test('has the culet of its width', () => {
  assert.is(stone({ culetWidth: 0.9 }).culet, 'Medium')
  assert.is(stone({ culetWidth: 9 }).culet, 'Very Large')
})

test('has the grades, each from its dictionary'`,
      },
      {
        file: 'test/events/bodies.ts',
        find: "  girdle: 'Thin-Medium',\n",
        becomes: "  girdle: 'Thin-Medium',\n  culetWidth: 0.9,\n",
      },
    ],
    tests: [
      'test/api/culet-width.test.ts',
      'test/api/create-diamond.test.ts',
      'test/api/inventory-page/list.test.ts',
      'test/cli/export.test.ts',
      'test/trade-files/columns.test.ts',
      'test/domain/diamond/fields.test.ts',
      'test/domain/diamond/scored-stone.test.ts',
      'test/events/golden-bodies.test.ts',
    ],
  },
  {
    title: 'Add a command',
    row: 'a command on a diamond, with its endpoint and its event',
    folder: 'command',
    edits: [
      {
        file: 'src/domain/diamond/diamond.ts',
        find: '  DiamondDeleted: { about',
        becomes: `  DiamondWithdrawn: {
    about: 'The owner took the diamond off the market: it is not published, and its report page is private.',
    payload: z.object({ reason: z.enum(WITHDRAWAL_REASONS) }),
  },
  DiamondDeleted: { about`,
      },
      {
        file: 'src/domain/diamond/diamond.ts',
        find: 'export const diamondEvents = ',
        becomes: `/** Why a diamond is taken off the market. */
export const WITHDRAWAL_REASONS = ['sold', 'kept', 'lost'] as const
export type WithdrawalReason = (typeof WITHDRAWAL_REASONS)[number]

export const diamondEvents = `,
      },
      {
        file: 'src/domain/diamond/diamond.ts',
        find: "type DiamondDeleted = EventOf<DiamondEventDeclarations, 'DiamondDeleted'>\n\nexport type DiamondEvent = DiamondCreated | DiamondPatched | DiamondDeleted | CertificationEvent | StoneModelEvent\n",
        becomes: `type DiamondWithdrawn = EventOf<DiamondEventDeclarations, 'DiamondWithdrawn'>
type DiamondDeleted = EventOf<DiamondEventDeclarations, 'DiamondDeleted'>

export type DiamondEvent =
  DiamondCreated | DiamondPatched | DiamondWithdrawn | DiamondDeleted | CertificationEvent | StoneModelEvent
`,
      },
      {
        file: 'src/domain/diamond/diamond.ts',
        find: "    case 'CertificationAttached':\n",
        becomes: `    case 'DiamondWithdrawn':
      return diamond.status === 'live' ? applyFieldChange(diamond, { ...diamond.fields, ...WITHDRAWN }) : diamond
    case 'CertificationAttached':
`,
      },
      {
        file: 'src/domain/diamond/diamond.ts',
        find: '/** Removes the certifications and the model too,',
        becomes: `const WITHDRAWN = { isPublished: false, access: 0 } as const

/** Decides no events for a diamond that is neither published nor visible to others. */
export function withdraw(
  diamond: Diamond,
  { id, owner }: DiamondOwnership,
  reason: WithdrawalReason,
): DiamondWithdrawn[] {
  const { isPublished, access } = requireOwnedDiamond(diamond, id, owner).fields
  return isPublished || access > 0 ? [{ type: 'DiamondWithdrawn', data: { reason } }] : []
}

/** Removes the certifications and the model too,`,
      },
      {
        file: 'src/projections/history/diamond-history.ts',
        find: "  DiamondDeleted: { type: 'deleted'",
        becomes: "  DiamondWithdrawn: { type: 'withdrawn', title: 'Withdrawn' },\n  DiamondDeleted: { type: 'deleted'",
      },
      {
        file: 'src/commands/diamonds/diamonds.ts',
        find: '  remove,\n  type Diamond,\n  type DiamondCreated,\n  type DiamondEvent,\n',
        becomes:
          '  remove,\n  withdraw,\n  type Diamond,\n  type DiamondCreated,\n  type DiamondEvent,\n  type WithdrawalReason,\n',
      },
      {
        file: 'src/commands/diamonds/diamonds.ts',
        find: '/** Revisions from If-Match.',
        becomes: `export function planWithdrawal(id: number, reason: WithdrawalReason, { owner }: CommandPrincipal): DiamondChange {
  return { id, decide: (diamond) => withdraw(diamond, { id, owner }, reason) }
}

/** Revisions from If-Match.`,
      },
      {
        file: 'src/http/diamonds/modify.ts',
        find: 'import {\n  changeDiamond,',
        becomes: "import { z } from 'zod'\nimport {\n  changeDiamond,",
      },
      {
        file: 'src/http/diamonds/modify.ts',
        find: '  planPatch,\n',
        becomes: '  planPatch,\n  planWithdrawal,\n',
      },
      {
        file: 'src/http/diamonds/modify.ts',
        find: "import { requireValid } from '../../representations/parse.ts'\n",
        becomes:
          "import { requireValid, mustBe, objectSchema, parseInput } from '../../representations/parse.ts'\nimport { WITHDRAWAL_REASONS } from '../../domain/diamond/diamond.ts'\n",
      },
      {
        file: 'src/http/diamonds/modify.ts',
        find: 'type DiamondChangeRequest =',
        becomes: `const WITHDRAWAL = objectSchema(
  {
    reason: z
      .enum(WITHDRAWAL_REASONS, mustBe(\`one of \${WITHDRAWAL_REASONS.join(', ')}\`))
      .meta({ id: 'WithdrawalReason' })
      .describe('Reason for the withdrawal.'),
  },
  'a withdrawal',
  '{"reason":"sold"}',
)

const WITHDRAWAL_MEMBERS = { name: 'a withdrawal', members: ['reason'] } as const

export const withdrawOne = endpoint({
  operationId: 'withdrawDiamond',
  method: 'POST',
  path: '/{version}/diamond/{id}/withdrawal',
  summary: 'Withdraw a diamond from the market: it is unpublished, and its report page becomes private',
  auth: bearer,
  pathParameters: DIAMOND_PARAMETERS,
  requestHeaders: IF_MATCH,
  body: json(WITHDRAWAL),
  group: accountGroup,
  responses: {
    204: { description: 'The diamond is withdrawn', headers: CONSISTENCY },
    ...DIAMOND_ERROR_RESPONSES,
    ...CONFLICT_RESPONSE,
    ...PRECONDITION_RESPONSE,
  },
  async handler(ctx, services: DiamondServices) {
    const { reason } = requireValid(parseInput(WITHDRAWAL, ctx.request.body, WITHDRAWAL_MEMBERS))
    const change = planWithdrawal(parseDiamondId(ctx.params), reason, actorOf(ctx))
    const { consistency } = await changeOne(ctx, services, change)
    return noContent(consistency)
  },
})

type DiamondChangeRequest =`,
      },
      {
        file: 'src/http/endpoints.ts',
        find: 'import { modifyDiamond, modifyDiamonds, removeDiamond, removeDiamonds }',
        becomes: 'import { modifyDiamond, modifyDiamonds, removeDiamond, removeDiamonds, withdrawOne }',
      },
      { file: 'src/http/endpoints.ts', find: '  removeDiamond,\n', becomes: '  removeDiamond,\n  withdrawOne,\n' },
      {
        file: 'test/api/conflicts.test.ts',
        find: 'const { id } = await created(ann)\n',
        becomes: 'const { id } = await created(ann, { access: 2 })\n',
      },
      {
        file: 'test/api/conflicts.test.ts',
        find: "        { method: 'DELETE', path: `/${version}/diamond/${id}` },\n",
        becomes:
          "        { method: 'DELETE', path: `/${version}/diamond/${id}` },\n        { method: 'POST', path: `/${version}/diamond/${id}/withdrawal`, json: { reason: 'sold' } },\n",
      },
    ],
    tests: [
      'test/domain/diamond/withdraw.test.ts',
      'test/api/withdraw-diamond.test.ts',
      'test/api/conflicts.test.ts',
      'test/http/declarations.test.ts',
      'test/http/openapi/description.test.ts',
      'test/events/replay.test.ts',
      'test/events/catalogue.test.ts',
      'test/docs/events.test.ts',
      'test/docs/api-reference.test.ts',
    ],
  },
  {
    title: 'Add a read model',
    row: 'a read model, with its query and its endpoint',
    folder: 'read-model',
    edits: [
      {
        file: 'src/wiring/consumers.ts',
        find: "import { secrets } from '../projections/secrets/secrets.ts'",
        becomes:
          "import { laboratories } from '../projections/laboratories/laboratories.ts'\nimport { secrets } from '../projections/secrets/secrets.ts'",
      },
      {
        file: 'src/wiring/consumers.ts',
        find: '  certifications,\n  stoneModels,\n',
        becomes: '  certifications,\n  laboratories,\n  stoneModels,\n',
      },
      {
        file: 'src/http/endpoints.ts',
        find: "import type { CertificationServices } from './certifications/resource.ts'\n",
        becomes:
          "import { listLaboratories } from './certifications/laboratories.ts'\nimport type { CertificationServices } from './certifications/resource.ts'\n",
      },
      {
        file: 'src/http/endpoints.ts',
        find: '  readModelFile,\n  attachCertificationEndpoint,\n',
        becomes: '  readModelFile,\n  attachCertificationEndpoint,\n  listLaboratories,\n',
      },
    ],
    tests: [
      'test/projections/laboratories/laboratories.test.ts',
      'test/api/laboratories.test.ts',
      'test/http/openapi/description.test.ts',
      'test/docs/api-reference.test.ts',
    ],
  },
  {
    title: 'Add a store',
    row: 'a store',
    folder: 'store',
    edits: [
      {
        file: 'src/wiring/store-engines.ts',
        find: "    note: 'with USER:PASSWORD@ and ?tls=false as needed',\n  },\n",
        becomes: `    note: 'with USER:PASSWORD@ and ?tls=false as needed',
  },
  memory: {
    name: 'memory',
    location: 'on a server',
    isAddress: isUrl('memory'),
    example: 'memory://HOST',
    warning: 'EVENT_STORE=memory://HOST loses all events when the process ends; use it only for tests',
    async open(_address, given) {
      const { openMemoryEvents } = await import('../stores/memory/events.ts')
      return { store: openMemoryEvents(given), counters: () => ({}) }
    },
  },
`,
      },
      {
        file: 'docs/operations.md',
        find: '`EVENT_STORE=esdb://USER:PASSWORD@HOST:2113` or',
        becomes:
          '`EVENT_STORE=memory://HOST` keeps the log in memory, for tests.\n\n`EVENT_STORE=esdb://USER:PASSWORD@HOST:2113` or',
      },
    ],
    tests: [
      'test/stores/memory/events.test.ts',
      'test/wiring/store-engines.test.ts',
      'test/wiring/settings-event-store.test.ts',
    ],
  },
]
