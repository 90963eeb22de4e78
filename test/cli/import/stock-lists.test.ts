import * as assert from 'uvu/assert'
import { dryRunSuite, resultOf } from './dry-run.ts'
import { workbook } from './workbook-file.ts'

const test = dryRunSuite('an import of a stock list')

const HEADER = ['sku', 'cutShape', 'carat']

const skusOf = (stones: readonly Readonly<Record<string, unknown>>[]) => stones.map(({ sku }) => sku)

test('leaves out stones that are not for sale, names the words, and reads them with --include-unavailable', async ({
  dryRun,
}) => {
  const words = ['Available', 'Sold', 'On Memo', 'NA', '', 'HOLD', 'Sold', 'G']
  const lines = words.map((word, index) => `A-${index},Round,1,${word}`)
  const list = `Stock #,Shape,Weight,Availability\n${lines.join('\n')}\n`
  const { would, unavailable, bad, err } = resultOf(await dryRun(list))
  assert.equal([would?.created, bad], [3, []])
  assert.equal(unavailable, { Sold: 2, 'On Memo': 1, NA: 1, HOLD: 1 })
  assert.match(err, 'left out, since they are not for sale: Sold (2), On Memo (1), NA (1), HOLD (1)')
  assert.match(err, 'Availability (checked)')
  const all = resultOf(await dryRun(list, '--include-unavailable'))
  assert.equal([all.would?.created, all.unavailable], [8, {}])
  assert.match(all.err, 'Availability (ignored)')
})

test('does not judge the other cells of a stone that is not for sale', async ({ dryRun }) => {
  const { would, bad } = resultOf(
    await dryRun('Stock #,Shape,Weight,Price,Status\nA,Round,1,#N/A,Reserved\nB,Round,1,900,Active\n'),
  )
  assert.equal([would?.created, bad], [1, []])
})

test('asks what an unknown word or a formula error in the column of the status means', async ({ dryRun }) => {
  const list = 'Stock #,Shape,Weight,Status\nA,Round,1,Blue shelf\nB,Round,1,#N/A\nC,Round,1,A\n'
  const { code, err } = await dryRun(list)
  assert.is(code, 1)
  assert.match(err, 'line 2: Status: Blue shelf does not say whether the stone is for sale')
  assert.match(err, 'line 3: Status: #N/A is the error of a formula')
  assert.match(err, "--map-value 'Status:Blue shelf=VALUE'")
  const mapped = ['Status:Blue shelf=Sold', 'Status:#N/A=Available'].flatMap((value) => ['--map-value', value])
  assert.equal(skusOf(resultOf(await dryRun(list, ...mapped)).first), ['B', 'C'])
  assert.equal(skusOf(resultOf(await dryRun(list, '--map', 'Status=')).first), ['A', 'B', 'C'])
})

test('refuses a line of several stones', async ({ dryRun }) => {
  const { code, err } = await dryRun('Lot #,Shape,Weight,Pcs\nP-1,Round,1,1\nP-2,Round,12.5,24 pcs\nP-3,Round,2,Pair\n')
  assert.is(code, 1)
  assert.not.match(err, 'line 2')
  assert.match(err, 'line 3: Pcs: the line has 24 stones, but a diamond is a single stone')
  assert.match(err, 'line 4: Pcs: Pair is not a number of stones; a line must be one stone')
})

test('stores a stone as laboratory-grown by its treatment, laboratory or report number, and says so', async ({
  dryRun,
}) => {
  const labGrown = [',,CVD', ',,HPHT grown', ',,Lab Grown', 'IGI LG,,', 'IGI,LG712345678,', 'IGI,IGI LG 71234,As grown']
  const natural = ['GIA,1236,HPHT', 'IGI,712345678,None', ',,', 'GIA,2141438171,Not lab grown', 'GIA,1,non-CVD']
  const list = (lines: readonly string[]) =>
    `Stock #,Shape,Weight,Lab,Certificate #,Treatment\n${lines.map((line, index) => `A-${index},Round,1,${line}\n`).join('')}`
  const { fields, notes } = resultOf(await dryRun(list(labGrown)))
  assert.equal(fields.isLabGrown, { stones: labGrown.length, values: [true] })
  assert.equal(notes, {
    'Treatment CVD is stored as laboratory-grown': 1,
    'Treatment HPHT grown is stored as laboratory-grown': 1,
    'Treatment Lab Grown is stored as laboratory-grown': 1,
    'Lab IGI LG is stored as laboratory-grown': 1,
    'Certificate # LG... is stored as laboratory-grown': 2,
    'no report is attached: IGI without a report number': 1,
  })
  const others = resultOf(await dryRun(list(natural)))
  assert.equal([others.fields.isLabGrown, others.notes], [undefined, {}])
})

test('refuses a line that says both laboratory-grown and natural', async ({ dryRun }) => {
  const { code, err } = await dryRun(
    `sku,Shape,Weight,Lab grown,Type,Cert #
A,Round,1,no,,LG712345678
B,Round,1,yes,Natural,
C,Round,1,,Natural,1234
D,Round,1,yes,CVD,LG1
E,Round,1,yes,Diamond,
`,
  )
  assert.is(code, 1)
  assert.match(err, 'line 2: Cert # LG712345678 means laboratory-grown, but Lab grown no means natural')
  assert.match(err, 'line 3: Lab grown yes means laboratory-grown, but Type Natural means natural')
  assert.match(err, 'Invalid lines: 2 of 5')
})

test('stores a price of 0 as none, and says so', async ({ dryRun }) => {
  const { first, notes } = resultOf(await dryRun('sku,cutShape,carat,price\nA,Round,1,0\nB,Round,1,$0.00\n'))
  assert.equal(first, [
    { sku: 'A', cutShape: 'Round', carat: 1 },
    { sku: 'B', cutShape: 'Round', carat: 1 },
  ])
  assert.equal(notes, { 'price 0 is stored as no price': 2 })
})

test('does not take a price per carat for the weight or the price', async ({ dryRun }) => {
  for (const header of ['Wt,$/Ct,Total $', 'Crt,€/ct,Amount (EUR)', 'Weight,$ / Ct,$ Total', 'Cts,PPC,Amt']) {
    const { first } = resultOf(await dryRun(`Packet No,Shape,${header}\nA,Round,0.71,3380,2400\n`))
    assert.equal(first, [{ sku: 'A', price: 2400, cutShape: 'Round', carat: 0.71 }], header)
  }
})

test('reads German headings and grades', async ({ dryRun }) => {
  const { first, bad } = resultOf(
    await dryRun(
      `Lagernummer;Form;Gewicht;Farbe;Reinheit;Schliff;Politur;Symmetrie;Fluoreszenz;Preis
D-1;Rund;1,01;G;VS1;exzellent;sehr gut;gut;keine;5.200,00
D-2;Tropfen;0,90;H;lupenrein;;Sehr Gut;;schwach;2.900,00
`,
    ),
  )
  assert.equal(bad, [])
  assert.equal(first, [
    {
      sku: 'D-1',
      price: 5200,
      cutShape: 'Round',
      carat: 1.01,
      clarity: 'VS1',
      color: 'G',
      cutQuality: 'Excellent',
      polish: 'Very Good',
      symmetry: 'Good',
      fluorIntensity: 'NON',
    },
    {
      sku: 'D-2',
      price: 2900,
      cutShape: 'Pear',
      carat: 0.9,
      clarity: 'LC',
      color: 'H',
      polish: 'Very Good',
      fluorIntensity: 'FNT',
    },
  ])
  const { first: shapes } = resultOf(await dryRun('Nr;Schliff;Gewicht\nA;Rund;1,01\nB;Herz;1,5\n', '--map', 'Nr=sku'))
  assert.equal(
    shapes.map(({ cutShape }) => cutShape),
    ['Round', 'Heart'],
  )
})

test('refuses a stock number that a spreadsheet program has shortened, unless --map-value gives it', async ({
  dryRun,
}) => {
  const list = 'sku,cutShape,carat\n7.01235E+15,Round,1\n"1,00E+05",Pear,1\n3E5,Oval,1\n'
  const { code, err } = await dryRun(list)
  assert.is(code, 1)
  assert.match(
    err,
    'line 2: sku: 7.01235E+15 is a number that a spreadsheet program shortened; format the column as text',
  )
  assert.match(err, 'line 3: sku: 1,00E+05 is a number')
  assert.not.match(err, 'line 4')
  const values = ['--map-value', 'sku:7.01235E+15=7012345678901234', '--map-value', 'sku:1,00E+05=1,00E+05']
  assert.equal(skusOf(resultOf(await dryRun(list, ...values)).first), ['7012345678901234', '1,00E+05', '3E5'])
  const cells = await workbook({ Stones: [HEADER, [7012345678901234, 'Round', 1], [701234567890123, 'Round', 1]] })
  const long = await dryRun(cells)
  assert.match(long.err, 'line 2: sku: 7012345678901230 is a number that a spreadsheet program shortened')
  assert.match(long.err, 'Invalid lines: 1 of 2')
  const date = await dryRun(await workbook({ Stones: [HEADER, [new Date('2026-01-05'), 'Round', 1]] }))
  assert.match(date.err, 'line 2: sku: 2026-01-05 is a date; if it was not entered as one')
})

test('refuses two skus that differ only in characters that look the same, and names these', async ({ dryRun }) => {
  const others = {
    'EN\u20131': 'U+2013',
    'EN\u20111': 'U+2011',
    'EN\u22121': 'U+2212',
    '\u0415N-1': 'U+0415',
    '\uff25N-1': 'U+FF25',
  }
  for (const [other, codePoint] of Object.entries(others)) {
    const { code, err } = await dryRun(`sku,cutShape,carat\n${other},Round,1\nEN-1,Round,1\nEN-2,Round,1\n`)
    assert.is(code, 1, codePoint)
    assert.match(err, `line 2: sku ${other} (with ${codePoint}) is duplicated in line 3`)
    assert.match(err, `line 3: sku EN-1 looks like ${other} (with ${codePoint}) in line 2`)
    const { first, notes } = resultOf(await dryRun(`sku,cutShape,carat\n${other},Round,1\nEN-2,Round,1\n`))
    assert.equal(skusOf(first), [other, 'EN-2'])
    assert.equal(notes, { [`sku ${other} with ${codePoint} is stored as written, not as EN-1`]: 1 })
  }
  const cyrillic = resultOf(await dryRun('sku,cutShape,carat\n\u0410\u0416-1,Round,1\n'))
  assert.equal(cyrillic.notes, {})
})

test('reads values with letters and digits that look like Latin ones, and names them', async ({ dryRun }) => {
  const { first, notes } = resultOf(
    await dryRun(
      'sku,cutShape,carat,color,clarity\nA,R\u043eund,1,\u0415,V\u04051\nB,\uff32ound,\uff11.\uff10\uff11,G,VS1\n',
    ),
  )
  assert.equal(first, [
    { sku: 'A', cutShape: 'Round', carat: 1, clarity: 'VS1', color: 'E' },
    { sku: 'B', cutShape: 'Round', carat: 1.01, clarity: 'VS1', color: 'G' },
  ])
  assert.is(notes['color \u0415 with U+0415 is stored as E'], 1)
  assert.is(Object.keys(notes).length, 5)
})

test('reads the grades of fancy colours as wholesalers write them', async ({ dryRun }) => {
  const { first, notes } = resultOf(
    await dryRun(`sku,Shape,Weight,Color,Fancy Color,Fancy Color Intensity
A,Radiant,1.01,Fancy,Yellow,Intense
B,Radiant,1.01,X,Yellow,FI
C,Radiant,1.01,*,Y,FANCY-VIVID
`),
  )
  const stone = { isColored: true, cutShape: 'Radiant', carat: 1.01, colorHue: 'Yellow' }
  assert.equal(first, [
    { sku: 'A', ...stone, fancyGrade: 'Fancy Intense' },
    { sku: 'B', ...stone, fancyGrade: 'Fancy Intense' },
    { sku: 'C', ...stone, fancyGrade: 'Fancy Vivid' },
  ])
  assert.equal(notes, {
    'color Fancy is stored as fancy-coloured, without a letter grade': 1,
    'color X is stored as fancy-coloured, without a letter grade': 1,
  })
  const colors = resultOf(
    await dryRun('sku,Shape,Weight,Color\nA,Radiant,1,Vivid Yellow\nB,Radiant,1,Fancy Intense\nC,Radiant,1,X\n'),
  )
  assert.equal(colors.first, [
    { sku: 'A', ...stone, carat: 1, fancyGrade: 'Fancy Vivid' },
    { sku: 'B', isColored: true, cutShape: 'Radiant', carat: 1, fancyGrade: 'Fancy Intense' },
    { sku: 'C', cutShape: 'Radiant', carat: 1, color: 'X' },
  ])
})

test('finds the header below a summary', async ({ dryRun }) => {
  const { first, err } = resultOf(
    await dryRun(`Pcs,Cts,Rap %,Amount
2,1.91,-30,8100
Stock #,Shape,Cts,Amount
A-1,Round,1.01,5200
A-2,Pear,0.90,2900
`),
  )
  assert.equal(skusOf(first), ['A-1', 'A-2'])
  assert.match(err, 'line 3 is the header; the lines above it are ignored')
})

test.run()
