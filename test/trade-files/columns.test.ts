import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseCells } from '../../src/trade-files/cells.ts'
import {
  CONTENTS,
  readHeader,
  parseColumnMapping,
  type Columns,
  type HeaderRules,
} from '../../src/trade-files/columns.ts'
import { contentName } from '../../src/trade-files/content-names.ts'
import { UnclearFile } from '../../src/trade-files/errors.ts'
import { WITHOUT_FIELD } from '../../src/trade-files/trade-columns.ts'

const test = suite('columns of trade files')

const inputOf = (columns: Columns, cells: readonly string[]) => parseCells({ columns, decimals: {} }, cells).input

const REFUSED = { unknown: 'refused' } as const

const columnsIn = (header: readonly string[], rules: HeaderRules, rows?: readonly (readonly string[])[]) =>
  readHeader(header, rules, rows).columns

/** RapNet's upload fields and what they map to; `undefined` is ignored. */
const RAPNET = {
  'Stock #': 'sku',
  Availability: 'availability',
  Shape: 'cutShape',
  Weight: 'carat',
  Color: 'color',
  Clarity: 'clarity',
  'Cut Grade': 'cutQuality',
  Polish: 'polish',
  Symmetry: 'symmetry',
  'Fluorescence Intensity': 'fluorIntensity',
  'Fluorescence Color': 'fluorColor',
  Measurements: 'measurements',
  Shade: undefined,
  Milky: undefined,
  'Eye Clean': undefined,
  Lab: 'certification.laboratory',
  'Certificate #': 'certification.number',
  Location: undefined,
  Treatment: 'treatment',
  'RapNet Price': undefined,
  'RapNet Discount %': undefined,
  'Cash Price': undefined,
  'Depth %': 'proportions.depth',
  'Table %': 'proportions.table',
  'Girdle Thin': 'girdle',
  'Girdle Thick': 'girdle',
  'Girdle %': 'proportions.girdle',
  'Girdle Condition': undefined,
  'Culet Size': 'culetSize',
  'Culet Condition': undefined,
  'Crown Height': 'proportions.crownHeight',
  'Pavilion Angle': 'proportions.pavilionAngle',
  'Laser Inscription': undefined,
  'Cert comment': undefined,
  'Key To Symbols': undefined,
  'Fancy Color': 'colorHue',
  'Fancy Color Intensity': 'fancyGrade',
  'Fancy Color Overtone': 'colorModifier',
  'Pair Stock #': undefined,
  'Star Length': 'proportions.star',
}

/** The fields of a diamond in GIA's Report Results API, likewise. */
const GIA = {
  report_number: 'certification.number',
  report_date: undefined,
  report_type: undefined,
  shape_and_cutting_style: 'cutShape',
  measurements: 'measurements',
  carat_weight: 'carat',
  color_grade: 'color',
  color_origin: undefined,
  color_distribution: undefined,
  clarity_grade: 'clarity',
  cut_grade: 'cutQuality',
  polish: 'polish',
  symmetry: 'symmetry',
  fluorescence: 'fluorIntensity',
  clarity_characteristics: undefined,
  inscriptions: undefined,
  report_comments: undefined,
  depth_pct: 'proportions.depth',
  table_pct: 'proportions.table',
  crown_angle: 'proportions.crownAngle',
  pavilion_depth: 'proportions.pavilionDepth',
  lower_half: 'proportions.lower',
  girdle: 'girdle',
  culet: 'culetSize',
}

test('of RapNet are all recognized, and those without a field are ignored', () => {
  assert.equal(columnsIn(Object.keys(RAPNET), REFUSED), Object.values(RAPNET))
})

test('of GIA are all recognized', () => {
  assert.equal(columnsIn(Object.keys(GIA), { ...REFUSED, required: ['carat'] }), Object.values(GIA))
})

test('in the list of columns without a field are ignored', () => {
  for (const heading of WITHOUT_FIELD) {
    assert.equal(columnsIn([heading], { ...REFUSED, required: [] }), [undefined], heading)
  }
})

test('by the other names that RapNet accepts are recognized', () => {
  const others = {
    VenderStockNumber: 'sku',
    StockNum: 'sku',
    ReferenceNumber: 'sku',
    Shp: 'cutShape',
    Sz: 'carat',
    CaratSize: 'carat',
    CtWeight: 'carat',
    Colr: 'color',
    Clearity: 'clarity',
    Purity: 'clarity',
    Finish: 'polish',
    Symetry: 'symmetry',
    'Sym-metry': 'symmetry',
    FlrIntensity: 'fluorIntensity',
    'Fluo Intensity': 'fluorIntensity',
    girdleMin: 'girdle',
    girdleMax: 'girdle',
    fancyColorDominantColor: 'colorHue',
  }
  for (const [heading, field] of Object.entries(others)) {
    assert.equal(columnsIn([heading], { ...REFUSED, required: [] }), [field], heading)
  }
})

const fieldOf = (heading: string) => columnsIn([heading], { ...REFUSED, required: [] })[0]

test('that name a currency are a price, or a price per carat, but never a weight', () => {
  const currencies = ['$', 'US$', 'HK$', '€', '£', '₹', '¥', 'USD', 'eur', 'Rs.', 'Dollar']
  for (const currency of currencies) {
    for (const weight of ['Ct', 'Cts', 'Carat', 'Crt', 'Wt', 'Weight'])
      for (const heading of [`${currency}/${weight}`, `${currency} / ${weight}`, `${weight} (${currency})`])
        assert.is(fieldOf(heading), undefined, heading)
    for (const heading of [`Total ${currency}`, `${currency} Amount`, `Price (${currency})`, `price_${currency}`])
      assert.is(fieldOf(heading), 'price', heading)
  }
  assert.is(fieldOf('PriceUSD'), 'price')
  assert.is(fieldOf('Price in USD'), 'price')
  assert.is(fieldOf('$'), 'price')
  assert.throws(() => fieldOf('Color $'), /The column Color \$ is not a field/)
})

test('for a price per carat are ignored', () => {
  for (const heading of [
    'Price/Ct',
    'Price per Crt',
    'PPC',
    'Rate',
    'Rate/Ct',
    'USD per carat',
    'Cost/cts',
    'Preis/ct',
    'Per carat',
    'Rap $/Ct',
    'Carat Price',
  ])
    assert.is(fieldOf(heading), undefined, heading)
})

test('of stock lists are recognized in English and German', () => {
  const lists = {
    sku: ['Packet No', 'Stone ID', 'Lot #', 'Ref', 'Ref. No.', 'Lagernummer'],
    fluorIntensity: ['Fls', 'Fl', 'Fluoreszenz'],
    price: ['total_sales_price', 'Sale Price', 'Asking Price', 'Amt', 'Total $', 'Amount USD', 'Preis', 'Gesamtpreis'],
    carat: ['Crt', 'Wt', 'Gewicht', 'Karat'],
    cutShape: ['Form'],
    color: ['Farbe'],
    clarity: ['Reinheit'],
    cutQuality: ['Schliff'],
    polish: ['Politur'],
    symmetry: ['Symmetrie'],
    'proportions.table': ['Table', 'Tab', 'Table %', 'Table Percentage', 'Tafel'],
    'proportions.depth': ['Depth', 'TD%', 'Dep %', 'Total Depth %', 'Tiefe %'],
    'proportions.length': ['Length', 'Length (mm)', 'Max. Diameter'],
    'proportions.height': ['Height mm'],
    'proportions.crownAngle': ['CA', 'Cr Ang', 'Crown Angle °'],
    'proportions.pavilionDepth': ['PH', 'Pav Depth %', 'Pavilion Height'],
    'proportions.girdle': ['Girdle (%)'],
    girdle: ['Girdle'],
    measurements: ['Measurements (mm)', 'MM', 'Diam', 'Abmessungen'],
    'certification.laboratory': ['Lab', 'Labor'],
    'certification.number': ['Cert No.', 'Report #', 'Zertifikat'],
  }
  for (const [field, headings] of Object.entries(lists))
    for (const heading of headings) assert.is(fieldOf(heading), field, heading)
  for (const ignored of ['Crown', 'L/W', '3EX', 'Report Date']) assert.is(fieldOf(ignored), undefined, ignored)
})

test('for a price beside one for the total price are ignored, and of two stock numbers the certain one is used', () => {
  assert.equal(columnsIn(['Stock #', 'Lot #', 'Shape', 'Ct', '$/Ct', 'Price', 'Total $'], REFUSED), [
    'sku',
    undefined,
    'cutShape',
    'carat',
    undefined,
    undefined,
    'price',
  ])
})

test('for a depth are the height in millimetres if their cells are too small for percent', () => {
  const depthIn = (header: readonly string[], depths: readonly string[]) =>
    columnsIn(
      header,
      { ...REFUSED, required: [] },
      depths.map((depth) => header.map(() => depth)),
    )
  assert.equal(depthIn(['Depth'], ['61.9', '3.9']), ['proportions.depth'])
  assert.equal(depthIn(['Depth'], ['3,98', '0', '4.1 mm']), ['proportions.height'])
  assert.equal(depthIn(['Depth'], ['0.619', '']), ['proportions.depth'])
  assert.equal(depthIn(['Depth', 'Depth %'], ['61.9']), [undefined, 'proportions.depth'])
})

test('for a proportion may be several: the first one that has it counts', () => {
  const columns = columnsIn(['Measurements', 'Length', 'Table', 'Table %'], { ...REFUSED, required: [] })
  assert.equal(inputOf(columns, ['6.44 x 6.41', '7', '', '57']), {
    proportions: { length: 6.44, width: 6.41, height: null, table: 57 },
  })
  assert.equal(inputOf(columns, ['', '7', '56', '57']), {
    proportions: { length: 7, width: null, height: null, table: 56 },
  })
})

test('may be mapped by a heading with a currency, and to a property of the line', () => {
  const mapping = parseColumnMapping({ '$/Ct': '', Disponible: 'availability' })
  const header = ['sku', 'Shape', 'Ct', '$/Ct', 'Disponible']
  assert.equal(columnsIn(header, { ...REFUSED, mapping }), ['sku', 'cutShape', 'carat', undefined, 'availability'])
  assert.throws(
    () => parseColumnMapping({ A: 'lab' }),
    /A column can also be measurements, or the line's availability, pieces/,
  )
})

test('for the same field are refused with both headings', () => {
  assert.throws(
    () => columnsIn(['sku', 'Shape', 'Weight', 'Size'], REFUSED),
    /Several columns for carat: Weight and Size/,
  )
  const mapping = parseColumnMapping({ Size: '' })
  assert.equal(columnsIn(['sku', 'Shape', 'Weight', 'Size'], { ...REFUSED, mapping }), [
    'sku',
    'cutShape',
    'carat',
    undefined,
  ])
})

const questionsOf = (header: readonly string[], rules: HeaderRules = REFUSED) => {
  try {
    columnsIn(header, rules)
    return []
  } catch (error) {
    if (!(error instanceof UnclearFile)) throw error
    return error.questions
  }
}

test('leave open what their question names, with the choices that answer it', () => {
  const header = ['sku', 'Shape', 'Weight', 'Size', 'Price', 'Disc %', 'Farbe 2']
  const questions = questionsOf(header)
  assert.equal(
    questions.map(({ kind, column }) => [kind, column]),
    [
      ['unknown column', 'Farbe 2'],
      ['several columns for a field', 'Weight'],
      ['several columns for a field', 'Size'],
      ['price per carat', 'Price'],
    ],
  )
  const [unknown, weight, , price] = questions
  assert.ok(unknown?.choices.includes('color') && unknown.choices.includes('certification.number'))
  assert.equal(
    [weight?.choices, price?.choices],
    [
      ['carat', ''],
      ['price', ''],
    ],
  )
  const mapping = parseColumnMapping({ 'Farbe 2': 'color', Size: '', Price: 'price' })
  assert.equal(questionsOf(header, { ...REFUSED, mapping }), [])
})

test('of which none is a required field leave open which one it is', () => {
  const header = ['sku', 'Shape', 'Gramm']
  const [, missing] = questionsOf(header)
  assert.equal([missing?.kind, missing?.field, missing?.choices], ['field without column', 'carat', ['Gramm']])
  const mapping = parseColumnMapping({ Gramm: 'carat' })
  assert.equal(columnsIn(header, { ...REFUSED, mapping }), ['sku', 'cutShape', 'carat'])
})

test('without a heading are mapped by their number', () => {
  const mapping = parseColumnMapping({ 'Column 3': 'carat', 'column 4': '' })
  const { names, columns } = readHeader(['sku', 'Shape', '', ''], { ...REFUSED, mapping })
  assert.equal(names, ['sku', 'Shape', 'Column 3', ''])
  assert.equal(columns, ['sku', 'cutShape', 'carat', undefined])
})

test('have meanings with names for people, which all differ', () => {
  const names = CONTENTS.map(contentName)
  assert.is(new Set(names).size, CONTENTS.length)
  for (const name of names) assert.match(name, /^[A-Z][\w ,%]+$/)
})

test('for the two ends of a girdle are combined, and one end alone is the whole girdle', () => {
  const columns = columnsIn(['Girdle Thin', 'Girdle Thick'], { ...REFUSED, required: [] })
  assert.equal(inputOf(columns, ['Thin', 'Medium']), { girdle: 'Thin-Medium' })
  assert.equal(inputOf(columns, ['', 'STK']), { girdle: 'STK' })
  assert.equal(inputOf(columns, ['', '']), { girdle: null })
})

test("for GIA's fluorescence contain intensity and colour, unless the colour has a separate column", () => {
  const alone = (cell: string) => inputOf(['fluorIntensity'], [cell])
  assert.equal(alone('Very Strong Blue'), { fluorIntensity: 'Very Strong', fluorColor: 'Blue' })
  assert.equal(alone('Very Strong'), { fluorIntensity: 'Very Strong' })
  assert.equal(alone('Medium Rare'), { fluorIntensity: 'Medium Rare' })
  assert.equal(inputOf(['fluorIntensity', 'fluorColor'], ['Medium Blue', '']), {
    fluorIntensity: 'Medium Blue',
    fluorColor: null,
  })
})

test('have cells of the type of their field: digits are an id, a number or a text', () => {
  const read = (cells: readonly string[]) => inputOf(['sku', 'cutShape', 'carat', 'price', 'color'], cells)
  assert.equal(read(['007', '2', '0.51 carat', '1,200.50', '18']), {
    sku: '007',
    cutShape: 2,
    carat: 0.51,
    price: 1200.5,
    color: 18,
  })
  assert.equal(read(['1e3', '1e5', '1 ct', '1e3', 'G']), {
    sku: '1e3',
    cutShape: '1e5',
    carat: 1,
    price: 1000,
    color: 'G',
  })
})

test.run()
