import * as assert from 'uvu/assert'
import { dryRunSuite, resultOf } from './dry-run.ts'

const test = dryRunSuite('a trade file')

/** Files as portals and laboratories write them, and the stones that they contain. */
const FILES: readonly (readonly [source: string, content: string, stones: readonly object[]])[] = [
  [
    'an upload to RapNet',
    `Stock #,Availability,Shape,Weight,Color,Clarity,Cut Grade,Polish,Symmetry,Fluorescence Intensity,Fluorescence Color,RapNet Price,Lab,Girdle Thin,Girdle Thick,Culet Size
R-1,G,BR,1.01,G,VS1,EX,VG-EX,G-VG,N,,5200,GIA,STN,STK,N
R-2,G,PS,0.90,F,SI3,,F-G,EX+,SLT,,2900,GIA,THN,TK,P
R-3,G,CU,1.20,H,VS 2,,GD,FR,VSL,,3900,IGI,MED,SLTK,PT
`,
    [
      {
        sku: 'R-1',
        cutShape: 'Round',
        carat: 1.01,
        clarity: 'VS1',
        color: 'G',
        cutQuality: 'Excellent',
        polish: 'Very Good',
        symmetry: 'Good',
        fluorIntensity: 'NON',
        culetSize: 'N',
        girdle: 'Thin-Slightly Thick',
      },
      {
        sku: 'R-2',
        cutShape: 'Pear',
        carat: 0.9,
        clarity: 'SI3',
        color: 'F',
        polish: 'Fair',
        symmetry: 'Excellent',
        fluorIntensity: 'FNT',
        culetSize: 'N',
        girdle: 'Thin-Thick',
      },
      {
        sku: 'R-3',
        cutShape: 'Cushion Modified',
        carat: 1.2,
        clarity: 'VS2',
        color: 'H',
        polish: 'Good',
        symmetry: 'Fair',
        fluorIntensity: 'FNT',
        culetSize: 'N',
        girdle: 'Medium-Slightly Thick',
      },
    ],
  ],
  [
    'a download from RapNet, with a girdle in one column and in two',
    `Seller Name,Stock Number,Shape,Weight,Color,Clarity,Cut,Girdle,Girdle Min,Girdle Max,Culet,Culet Size,Culet Condition,Price Per Carat,% Discount,Price,Total Price
Some Seller,D-1,Round,1.01,G,VS1,Excellent,Thin - Medium,THN,MED,None,N,,5148.5,-10,5148.5,5200
`,
    [
      {
        sku: 'D-1',
        price: 5200,
        cutShape: 'Round',
        carat: 1.01,
        clarity: 'VS1',
        color: 'G',
        cutQuality: 'Excellent',
        culetSize: 'N',
        girdle: 'Thin-Medium',
      },
    ],
  ],
  [
    'a download from IDEX, where the cut is the shape',
    `Item ID #,Supplier Stock Ref.,Cut,Carat,Color,Natural Fancy Color,Natural Fancy Color Intensity,Clarity,Make (Cut Grade),Total Price,Girdle From,Girdle To
51,I-1,Round,1.01,G,,,VS1,Excellent,5200,Thin,Medium
52,I-2,Cushion,1.01,,Yellow,Fancy Vivid,VS1,,15200,,
`,
    [
      {
        sku: 'I-1',
        price: 5200,
        cutShape: 'Round',
        carat: 1.01,
        clarity: 'VS1',
        color: 'G',
        cutQuality: 'Excellent',
        girdle: 'Thin-Medium',
      },
      {
        sku: 'I-2',
        price: 15200,
        isColored: true,
        cutShape: 'Cushion',
        carat: 1.01,
        clarity: 'VS1',
        fancyGrade: 'Fancy Vivid',
        colorHue: 'Yellow',
      },
    ],
  ],
  [
    "the GIA's results, with a colour in one cell",
    `stock no,shape_and_cutting_style,carat_weight,color_grade,fluorescence,girdle,culet
G-1,Cushion Modified Brilliant,1.52 carat,Fancy Light Yellow,Medium Blue,"Slightly Thick to Thick, Faceted",None
G-2,Pear Brilliant,2.03 carat,U to V Range,None,Thin to Thick (Polished),None
G-3,Radiant,1.11 carat,"M, Faint Brown",Strong Blue,Medium 3.5%,Pointed
`,
    [
      {
        sku: 'G-1',
        isColored: true,
        cutShape: 'Cushion Modified',
        carat: 1.52,
        fluorIntensity: 'MED',
        fluorColor: 'B',
        fancyGrade: 'Fancy Light',
        colorHue: 'Yellow',
        culetSize: 'N',
        girdle: 'Slightly Thick-Thick',
      },
      {
        sku: 'G-2',
        cutShape: 'Pear',
        carat: 2.03,
        color: 'V',
        fluorIntensity: 'NON',
        culetSize: 'N',
        girdle: 'Thin-Thick',
      },
      {
        sku: 'G-3',
        cutShape: 'Radiant',
        carat: 1.11,
        color: 'M',
        fluorIntensity: 'STR',
        fluorColor: 'B',
        culetSize: 'N',
        girdle: 'Medium',
      },
    ],
  ],
  [
    'a list of stones of both origins',
    `Stock ID,Type,Cut (Shape),Size,Share Access,Final Price
O-1,lab grown diamond,Round Brilliant,1.01,Public,900
O-2,diamond,Sq. Emerald,1.01,Restricted,4000
O-3,Laboratory-Grown (CVD),Oval Modified Brilliant,1.01,Unlisted,POA
`,
    [
      { sku: 'O-1', price: 900, isLabGrown: true, cutShape: 'Round', carat: 1.01, access: 2 },
      { sku: 'O-2', price: 4000, isLabGrown: false, cutShape: 'Square Emerald', carat: 1.01, access: 0 },
      { sku: 'O-3', isLabGrown: true, cutShape: 'Oval', carat: 1.01, access: 1 },
    ],
  ],
]
for (const [source, content, stones] of FILES) {
  test(`such as ${source} is imported without changes`, async ({ dryRun }) => {
    const { first, bad } = resultOf(await dryRun(content))
    assert.equal([first, bad], [stones, []])
  })
}

test('has no value in a cell such as N/A or None, unless that word is a value of the field', async ({ dryRun }) => {
  for (const none of ['N/A', '-', 'None', 'null', 'n.a.', 'POA', '—', 'Not specified', 'on request']) {
    const { first } = resultOf(
      await dryRun(`sku,cutShape,carat,price,polish,color,isLabGrown\nA,Round,1,${none},${none},${none},${none}\n`),
    )
    assert.equal(first, [{ sku: 'A', cutShape: 'Round', carat: 1 }], none)
  }
  const { first } = resultOf(await dryRun('sku,cutShape,carat,fluorescence,culet,polish\nA,Round,1,None,None,None\n'))
  assert.equal(first, [{ sku: 'A', cutShape: 'Round', carat: 1, fluorIntensity: 'NON', culetSize: 'N' }])
})

test('is refused if a stone has no shape or no weight', async ({ dryRun }) => {
  const { code, err } = await dryRun('sku,cutShape,carat\nA,N/A,1\nB,Round,-\n')
  assert.is(code, 1)
  assert.match(err, /line 2: cutShape is required/)
  assert.match(err, /line 3: carat is required/)
})

test('is imported with the lower of two grades, and a note', async ({ dryRun }) => {
  const { first, notes } = resultOf(
    await dryRun('sku,cutShape,carat,polish,clarity,color\nA,Round,1,VG-EX,VS1 - VS2,G/H\nB,Pear,1,VG-EX,SI1,I\n'),
  )
  assert.equal(first[0], { sku: 'A', cutShape: 'Round', carat: 1, clarity: 'VS2', color: 'H', polish: 'Very Good' })
  assert.equal(notes, {
    'clarity VS1 - VS2 is stored as VS2, the lower grade': 1,
    'color G/H is stored as H, the lower grade': 1,
    'polish VG-EX is stored as Very Good, the lower grade': 2,
  })
})

test('whose price may be per carat requires --map', async ({ dryRun }) => {
  const sheet = 'Stock #,Shape,Weight,Price,Disc %\nA-1,BR,2.00,5200,-30\n'
  const { code, err } = await dryRun(sheet)
  assert.is(code, 2)
  assert.match(
    err,
    /The column Price may be the price per carat, since there is a column Disc %: use --map 'Price=price'/,
  )
  assert.is(resultOf(await dryRun(sheet, '--map', 'Price=price')).first[0]?.['price'], 5200)
  assert.is(resultOf(await dryRun(sheet, '--map', 'Price=')).first[0]?.['price'], undefined)
})

test('whose column Cut contains grades lacks the shape', async ({ dryRun }) => {
  const { code, err } = await dryRun('Stock #,Cut,Weight\nA-1,EX,1\nA-2,P,1\n')
  assert.is(code, 2)
  assert.match(err, /The header has no column for cutShape/)
})

test('may contain unknown words if --map-value maps them, which the error prints as a template', async ({ dryRun }) => {
  const sheet = "sku,cutShape,carat,Cut,isLabGrown\nA,Round,1,Super Ideal,IIa\nB,Round,1,EX,no\nC,Pear,1,Owner's,\n"
  const refused = await dryRun(sheet)
  assert.is(refused.code, 1)
  const lines = refused.err.split('\n').flatMap((line) => /--map-value '(.*)'$/.exec(line)?.[1] ?? [])
  assert.equal(lines, ['Cut:Super Ideal=VALUE', 'isLabGrown:IIa=VALUE', "Cut:Owner'\\''s=VALUE"])
  const words = ['Cut:Super Ideal=Ideal', 'isLabGrown:iia=', "Cut:Owner's=VG"].flatMap((word) => ['--map-value', word])
  assert.equal(resultOf(await dryRun(sheet, ...words)).first, [
    { sku: 'A', cutShape: 'Round', carat: 1, cutQuality: 'Ideal' },
    { sku: 'B', isLabGrown: false, cutShape: 'Round', carat: 1, cutQuality: 'Excellent' },
    { sku: 'C', cutShape: 'Pear', carat: 1, cutQuality: 'Very Good' },
  ])
})

test('is refused if --map-value names an unknown column or has an invalid form', async ({ dryRun }) => {
  const sheet = 'sku,cutShape,carat\nA,Round,1\n'
  const unknown = await dryRun(sheet, '--map-value', 'Make:EX=Ideal')
  assert.equal(
    [unknown.code, /--map-value Make names an unknown column; the columns are sku/.test(unknown.err)],
    [2, true],
  )
  const other = await dryRun(sheet, '--map-value', 'cutShape=Round')
  assert.equal([other.code, /must be COLUMN:TEXT=VALUE/.test(other.err)], [2, true])
  const json = await dryRun('{"sku":"A","cutShape":"Round","carat":1}\n', '--map-value', 'sku:A=B')
  assert.equal([json.code, /--map-value requires a file with a header/.test(json.err)], [2, true])
})

test.run()
