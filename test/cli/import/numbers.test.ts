import * as assert from 'uvu/assert'
import { dryRunSuite } from './dry-run.ts'

const test = dryRunSuite('numbers of an imported spreadsheet')

/** A file of stones with these weights and prices. */
const sheet = (cells: readonly (readonly [carat: string, price: string])[]) =>
  ['sku;cutShape;carat;price', ...cells.map(([carat, price], index) => `S-${index};Round;${carat};"${price}"`)].join(
    '\n',
  )

const NBSP = '\u00a0'
const NARROW = '\u202f'

const READ: readonly (readonly [
  what: string,
  cells: readonly (readonly [carat: string, price: string])[],
  numbers: readonly (readonly [carat: number, price: number])[],
])[] = [
  [
    'German',
    [
      ['0,71', '1.200,50'],
      ['1', '12.500'],
    ],
    [
      [0.71, 1200.5],
      [1, 12_500],
    ],
  ],
  [
    'German prices next to weights with a decimal point',
    [
      ['0.71', '1.200'],
      ['1.01', '4.350'],
    ],
    [
      [0.71, 1200],
      [1.01, 4350],
    ],
  ],
  [
    'German, with whole thousands only',
    [
      ['0,71', '12.500'],
      ['1,01', '45.000'],
    ],
    [
      [0.71, 12_500],
      [1.01, 45_000],
    ],
  ],
  [
    'American',
    [
      ['0.71', '$1,200.00'],
      ['1.01', 'USD 1200'],
      ['2', 'US$12,500'],
    ],
    [
      [0.71, 1200],
      [1.01, 1200],
      [2, 12_500],
    ],
  ],
  [
    'Indian',
    [
      ['0.71', 'Rs. 1,20,000'],
      ['1.01', '₹12,50,000.50'],
    ],
    [
      [0.71, 120_000],
      [1.01, 1_250_000.5],
    ],
  ],
  [
    'French',
    [
      ['0,71', `1${NARROW}200,50 €`],
      ['1,01', `3${NBSP}300`],
    ],
    [
      [0.71, 1200.5],
      [1.01, 3300],
    ],
  ],
  [
    'Swiss',
    [
      ['0.71', "CHF 1'200.-"],
      ['1.01', '1’200.50'],
    ],
    [
      [0.71, 1200],
      [1.01, 1200.5],
    ],
  ],
  [
    'weights with three decimals',
    [
      ['1.200 ct', '1'],
      ['1.005', '2'],
    ],
    [
      [1.2, 1],
      [1.005, 2],
    ],
  ],
  [
    'weights with three decimals after a comma',
    [
      ['1,200', '900'],
      ['1,005 ct.', '900'],
    ],
    [
      [1.2, 900],
      [1.005, 900],
    ],
  ],
  [
    'prices with three decimals',
    [
      ['1', '1234.500'],
      ['1', '950.000'],
    ],
    [
      [1, 1234.5],
      [1, 950],
    ],
  ],
]
for (const [description, cells, numbers] of READ) {
  test(`that are ${description} are parsed`, async ({ dryRun }) => {
    const { code, out, err } = await dryRun(sheet(cells))
    assert.is(code, 0, err)
    const { first } = JSON.parse(out) as { first: readonly { carat: number; price: number }[] }
    assert.equal(
      first.map(({ carat, price }) => [carat, price]),
      numbers,
    )
  })
}

const AMBIGUOUS: readonly (readonly [
  what: string,
  cells: readonly (readonly [carat: string, price: string])[],
  message: RegExp,
])[] = [
  [
    'may have a decimal point or a thousands separator',
    [
      ['1', '12.500'],
      ['2', '45.000'],
    ],
    /price.* 12\.500 in line 2 is 12\.5 or 12500;.*--decimal \. or --decimal ,/,
  ],
  [
    'are written in two ways',
    [
      ['1', '1.200,50'],
      ['2', '1,200.50'],
    ],
    /price has two decimal separators: 1,200\.50 in line 3, 1\.200,50 in line 2/,
  ],
  [
    'mix a decimal point and a thousands separator',
    [
      ['1', '900.5'],
      ['2', '1.200'],
    ],
    /price has two decimal separators: 900\.5 in line 2, 1\.200 in line 3/,
  ],
]
for (const [description, cells, message] of AMBIGUOUS) {
  test(`that ${description} stop the import with a question`, async ({ dryRun }) => {
    const { code, err } = await dryRun(sheet(cells))
    assert.is(code, 2)
    assert.match(err, message)
  })
}

for (const [decimal, prices] of [
  ['.', [12.5, 45]],
  [',', [12_500, 45_000]],
] as const) {
  test(`have ${decimal} as decimal separator if --decimal says so`, async ({ dryRun }) => {
    const { out, err } = await dryRun(
      sheet([
        ['1', '12.500'],
        ['2', '45.000'],
      ]),
      '--decimal',
      decimal,
    )
    const { first } = JSON.parse(out || err) as { first: readonly { price: number }[] }
    assert.equal(
      first.map(({ price }) => price),
      prices,
    )
  })
}

test('are shown by a dry run: in the first three stones, and as the range of each field', async ({
  dryRun,
  commands,
  file,
}) => {
  const content = sheet([
    ['0,71', '1.200'],
    ['1', '900'],
    ['2,5', '30.000'],
    ['3', ''],
  ])
  const { out } = await dryRun(content)
  const { first, fields } = JSON.parse(out) as { first: object[]; fields: object }
  assert.is(first.length, 3)
  assert.equal(first[0], { sku: 'S-0', price: 1200, cutShape: 'Round', carat: 0.71 })
  assert.equal(fields, {
    sku: { stones: 4 },
    price: { stones: 3, from: 900, to: 30_000 },
    cutShape: { stones: 4, values: ['Round'] },
    carat: { stones: 4, from: 0.71, to: 3 },
  })
  const { err } = await commands.run(['import', file, '--user', 'a@example.com', '--dry-run'])
  assert.match(err, 'sku S-0, price 1200, cutShape Round, carat 0.71')
  assert.match(err, 'price: 900 to 30000 (3 of 4 stones)')
})

test.run()
