import * as assert from 'uvu/assert'
import { workbook } from '../../cli/import/workbook-file.ts'
import { file, text } from '../harness/form.ts'
import { settled, shownImport, type ShownImport } from '../harness/imports.ts'
import { expect, type ApiResponse } from '../harness/request.ts'
import { apiSuite, GENEROUS_TIMEOUT_MS } from '../harness/service.ts'
import { created, current, list } from '../harness/stones.ts'
import { isLogIn, newOwner, type Owner } from './browser.ts'

const test = apiSuite('the import page', { readModelTimeoutMs: GENEROUS_TIMEOUT_MS })

const NEW_STONES = '0'
const WHOLE_STOCK = '2'

const idIn = (response: ApiResponse): string => String(expect(303, response).headers.location).split('/').at(-1) ?? ''

/** Uploads a stock list with the form. @returns the id of the import */
const uploadedByPage = async ({ submitFile }: Owner, content: string | Buffer, mode = NEW_STONES) =>
  idIn(await submitFile('/inventory/import', [file(content, 'stock.csv', 'text/csv'), text('mode', mode)]))

const pathOf = (id: string) => `/inventory/import/${id}`

/** The value of the hidden field that names the reading that a form belongs to. */
const readingIn = ({ text: page }: ApiResponse): string => /name="reading" value="(\w+)"/.exec(page)?.[1] ?? ''

/** The name of the control with a label, and the values of its alternatives by their labels. */
function controlIn({ text: page }: ApiResponse, label: string): { name: string; values: Record<string, string> } {
  const plain = page.replaceAll(/\s+/g, ' ')
  const [, fieldset] = plain.split(`<legend>${label}`)
  const [, ofSelect] = plain.split(`aria-label="${label}"`)
  const [, ofLabel] = plain.split(new RegExp(`<label for="[^"]*">${label.replaceAll(/[()%]/g, String.raw`\$&`)}`))
  if (fieldset !== undefined) {
    const radios = [
      ...(fieldset.split('</fieldset>', 1)[0] ?? '').matchAll(/name="([^"]*)" value="(\d+)"[^>]*> ([^<]*) </g),
    ]
    return {
      name: radios[0]?.[1] ?? '',
      values: Object.fromEntries(radios.map(([, , value = '', name = '']) => [name, value])),
    }
  }
  const before =
    ofSelect === undefined
      ? ofLabel
      : `${plain
          .slice(0, plain.indexOf(`aria-label="${label}"`))
          .split('<select')
          .at(-1)}>${ofSelect}`
  const select = (before ?? '').split('</select>', 1)[0] ?? ''
  const options = [...select.matchAll(/<option value="(\d+)"[^>]*>([^<]*)</g)]
  return {
    name: /name="([^"]*)"/.exec(select)?.[1] ?? '',
    values: Object.fromEntries(options.map(([, value = '', name = '']) => [name, value])),
  }
}

/** Chooses an alternative of each control, by their labels, and presses a button. */
async function choose(
  { openPage, submit }: Owner,
  id: string,
  choices: Readonly<Record<string, string>>,
  button = 'read',
): Promise<ApiResponse> {
  const page = expect(200, await openPage(pathOf(id)))
  const fields = Object.entries(choices).map(([label, alternative]) => {
    const { name, values } = controlIn(page, label)
    assert.ok(values[alternative], `${label}: ${alternative}, of ${JSON.stringify(values)}`)
    return [name, values[alternative] ?? '']
  })
  return submit(pathOf(id), { ...Object.fromEntries(fields), reading: readingIn(page), do: button })
}

/** Chooses, and returns the import as the API shows it. */
async function read(owner: Owner, id: string, choices: Readonly<Record<string, string>>): Promise<ShownImport> {
  expect(303, await choose(owner, id, choices))
  return shownImport(owner.owner, id)
}

test('shows what was understood of a file, imports it and undoes it', async ({ service }) => {
  const ann = await newOwner(service)
  const content = 'sku,Shape,Carat,Price,Lab,Cert No\nA-<1>,Round,1.2,5000,GIA,6201947735\nA-2,Oval,0.71,,,\n'
  const id = await uploadedByPage(ann, content)
  const page = expect(200, await ann.openPage(pathOf(id)))
  for (const shown of [
    'Import of stock.csv',
    'A-&lt;1&gt;',
    'Round · Oval',
    'create 2 stones',
    'Laboratory',
    '6201947735',
  ])
    assert.ok(page.text.includes(shown), shown)
  assert.is(page.headers['cache-control'], 'no-store')
  assert.is(list(await current(ann.owner, '/v4/diamond')).length, 0)
  assert.is(idIn(await choose(ann, id, {}, 'apply')), id)
  assert.is((await settled(ann.owner, id)).state, 'applied')
  assert.equal(
    list(await current(ann.owner, '/v4/diamond'))
      .map(({ sku }) => sku)
      .sort(),
    ['A-2', 'A-<1>'],
  )
  assert.match((await ann.openPage(pathOf(id))).text, 'Imported: 2 stones created, 1 report attached.')
  assert.match((await ann.openPage('/inventory/import')).text, `href="../inventory/import/${id}">stock.csv</a>`)
  expect(303, await ann.submit(pathOf(id), { do: 'undo' }))
  await settled(ann.owner, id)
  assert.match((await ann.openPage(pathOf(id))).text, 'Undone: 2 stones restored.')
  assert.is(expect(303, await ann.submit(pathOf(id), { do: 'delete' })).headers.location, '../../inventory/import')
  assert.match(expect(404, await ann.openPage(pathOf(id))).text, 'There is no import')
})

test('asks each question of a file as a choice, and is ready once all are answered', async ({ service }) => {
  const ann = await newOwner(service)
  const content = 'sku,Shape,Weight,Size,Price,Disc %,Box no,Preis\nA,Round,1,x,100,10,7,\n'
  const id = await uploadedByPage(ann, content)
  const one = await read(ann, id, { 'Several columns for carat: Weight and Size': 'Weight' })
  assert.equal(
    one.questions.map(({ option }) => option),
    ['map[Box no]', 'map[Price]', 'map[Preis]'],
  )
  const ready = await read(ann, id, {
    'The column Box no is not a field of a v4 diamond (7)': 'Ignore this column',
    'Several columns for price: Price and Preis': 'Price',
  })
  assert.is(ready.state, 'ready')
  assert.equal(ready.first, [{ sku: 'A', price: 100, cutShape: 'Round', carat: 1 }])
  const perCarat = await uploadedByPage(ann, 'sku,Shape,Carat,Price,Disc %\nA,Round,1,100,10\n')
  const question = 'The column Price may be the price per carat, since there is a column Disc % (100)'
  const answered = await read(ann, perCarat, { [question]: 'It is the price of the whole stone' })
  assert.equal([answered.state, answered.first[0]?.['price']], ['ready', 100])
})

test('asks for the column of a required field, for the decimal separator and for the sheet', async ({ service }) => {
  const ann = await newOwner(service)
  const shapes = await uploadedByPage(ann, 'sku,Shape,Foo\nA,Round,1.2\n')
  assert.is((await shownImport(ann.owner, shapes)).state, 'asking')
  await choose(ann, shapes, {}, 'ignore')
  const found = await shownImport(ann.owner, shapes)
  assert.equal(
    found.columns.map(({ name, field }) => [name, field]),
    [
      ['sku', 'sku'],
      ['Shape', 'cutShape'],
      ['Foo', null],
    ],
  )
  assert.is((await read(ann, shapes, { 'The header has no column for carat': 'Foo' })).first[0]?.['carat'], 1.2)

  const decimals = await uploadedByPage(ann, 'sku;Shape;Carat;Price\nA;Round;1;12.500\n')
  const { state, questions } = await shownImport(ann.owner, decimals)
  assert.equal([state, questions.map(({ option }) => option)], ['asking', ['decimal']])
  const label = questions[0]?.ask ?? ''
  assert.is((await read(ann, decimals, { [label]: 'Decimal comma: 1.234,56' })).first[0]?.['price'], 12_500)
  assert.is((await read(ann, decimals, { Numbers: 'Decimal point: 1,234.56' })).first[0]?.['price'], 12.5)

  const rows = (sku: string) => [
    ['sku', 'Shape', 'Carat'],
    [sku, 'Round', 1],
  ]
  const sheets = await uploadedByPage(ann, await workbook({ Old: rows('O'), New: rows('N') }))
  const [question] = (await shownImport(ann.owner, sheets)).questions
  assert.is((await read(ann, sheets, { [question?.ask ?? '']: 'New' })).first[0]?.['sku'], 'N')
})

test('offers the values of a field for a word that is none, and leaves out lines with errors', async ({ service }) => {
  const ann = await newOwner(service)
  const lines = ['A,Round,1,super,Natural', 'B,Round,heavy,VS1,Natural', 'C,Round,1,VS1,maybe']
  const id = await uploadedByPage(ann, `sku,Shape,Carat,Clarity,isLabGrown\n${lines.join('\n')}\n`)
  assert.equal((await shownImport(ann.owner, id)).errorCount, 3)
  const page = await ann.openPage(pathOf(id))
  for (const shown of ['3 lines have 3 errors', 'Line 2', 'Line 3', 'heavy'])
    assert.ok(page.text.includes(shown), shown)
  const words = { '“super” in Clarity, 1 line': 'IF', '“maybe” in isLabGrown, 1 line': 'Laboratory-grown' }
  const shown = await read(ann, id, words)
  assert.equal(
    [shown.state, shown.errorCount, shown.first.map(({ clarity }) => clarity)],
    ['invalid', 1, ['IF', 'VS1']],
  )
  assert.is(shown.first[1]?.['isLabGrown'], true)
  const { state, would } = await read(ann, id, { 'Lines with errors': 'Leave out that line' })
  assert.equal([state, would.created], ['ready', 2])
})

test('shows changed choices with their effect before it imports anything', async ({ service }) => {
  const ann = await newOwner(service)
  await created(ann.owner, { sku: 'OLD' })
  const id = await uploadedByPage(ann, 'sku,Shape,Carat\nA,Round,1\n')
  const whole = 'The whole stock: the same, and stones that are not in the file are deleted'
  expect(303, await choose(ann, id, { 'What the lines are': whole }, 'apply'))
  const { state, would } = await shownImport(ann.owner, id)
  assert.equal([state, would.deleted], ['ready', 1])
  assert.match((await ann.openPage(pathOf(id))).text, 'create 1 stone, delete 1')
  expect(303, await choose(ann, id, { 'What the lines are': whole }, 'apply'))
  assert.is((await settled(ann.owner, id)).counts?.deleted, 1)
})

test('rejects a form that was made for another reading of the file', async ({ service }) => {
  const ann = await newOwner(service)
  const id = await uploadedByPage(ann, 'sku,Shape,Carat\nA,Round,1\n')
  const reading = readingIn(await ann.openPage(pathOf(id)))
  expect(303, await choose(ann, id, { 'Meaning of Shape': 'SKU', 'Meaning of sku': 'Shape' }))
  const { text: page } = expect(409, await ann.submit(pathOf(id), { reading, do: 'apply' }))
  assert.match(page, 'The import was changed in another window; check it again.')
  assert.is((await shownImport(ann.owner, id)).state, 'ready')
})

test('shows why something was rejected, on the same page', async ({ service }) => {
  const ann = await newOwner(service)
  const pdf = await ann.submitFile('/inventory/import', [file('%PDF-1.4', 'stock.pdf')])
  assert.match(expect(422, pdf).text, /role="alert">[^<]*PDF/)
  assert.match(expect(422, await ann.submitFile('/inventory/import', [])).text, /role="alert">file is required/)
  const id = await uploadedByPage(ann, 'sku,Shape,Carat\nA,Round,heavy\nB,Round,1\n', WHOLE_STOCK)
  const { text: page } = expect(422, await choose(ann, id, { 'Lines with errors': 'Leave out that line' }))
  assert.match(page, 'Lines cannot be left out if the file is the whole stock')
  assert.match(expect(409, await choose(ann, id, {}, 'apply')).text, 'correct them, or choose to leave them out')
  assert.match(expect(409, await ann.submit(pathOf(id), { do: 'undo' })).text, 'Only an import that was applied')
  expect(400, await ann.submit(pathOf(id), { do: 'nothing' }))
})

test('takes a choice for each of many columns', async ({ service }) => {
  const ann = await newOwner(service)
  const extra = Array.from({ length: 300 }, (_, index) => `Extra ${index}`)
  const id = await uploadedByPage(ann, `sku,Shape,Carat,${extra.join(',')}\nA,Round,1${',x'.repeat(300)}\n`)
  const page = await ann.openPage(pathOf(id))
  const names = [...page.text.matchAll(/<select\s+name="(question-\d+)"/g)].map(([, name = '']) => name)
  assert.is(names.length, 300)
  const ignored =
    controlIn(page, 'The column Extra 7 is not a field of a v4 diamond').values['Ignore this column'] ?? ''
  const fields = Object.fromEntries(names.map((name) => [name, ignored]))
  expect(303, await ann.submit(pathOf(id), { ...fields, reading: readingIn(page), do: 'read' }))
  assert.is((await shownImport(ann.owner, id)).state, 'ready')
})

test('is the log-in form without a session, and is not for other accounts or sites', async ({ service }) => {
  const ann = await newOwner(service)
  const bob = await newOwner(service)
  const id = await uploadedByPage(ann, 'sku,Shape,Carat\nA,Round,1\n')
  for (const path of ['/inventory/import', pathOf(id)])
    assert.ok(isLogIn(expect(200, await service.send({ path }))), path)
  for (const path of ['/inventory/import', pathOf(id)])
    assert.ok(isLogIn(expect(200, await ann.submit(path, { do: 'delete' }, { Cookie: 'adamant=x' }))), path)
  expect(404, await bob.submit(pathOf('im_unknown'), { do: 'delete' }))
  expect(403, await bob.openPage(pathOf(id)))
  expect(403, await bob.submit(pathOf(id), { do: 'delete' }))
  expect(403, await ann.submit(pathOf(id), { do: 'delete' }, { 'Sec-Fetch-Site': 'cross-site' }))
  assert.is((await shownImport(ann.owner, id)).state, 'ready')
})

test.run()
