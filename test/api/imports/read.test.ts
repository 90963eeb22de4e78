import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { workbook } from '../../cli/import/workbook-file.ts'
import { importIn, shownImport, uploaded, uploadRequest } from '../harness/imports.ts'
import { formBody, formHeaders, text } from '../harness/form.ts'
import { expect, pointers, refusal } from '../harness/request.ts'
import { apiSuite } from '../harness/service.ts'
import { current, list } from '../harness/stones.ts'

const test = apiSuite('a stock list that is uploaded')

const GOOD = 'sku,Shape,Carat,Price,Lab,Cert No\nA-1,Round,1.2,5000,GIA,6201947735\nA-2,Oval,0.71,,,\n'

test('is read, and says what an import would do, without doing it', async ({ service }) => {
  const ann = await service.newVendor()
  const response = expect(201, await ann.send(uploadRequest(ann, GOOD, {}, 'C:\\lists\\Stock 11.csv')))
  const shown = importIn(response)
  assert.is(response.headers.location, `${service.url}/v4/import/${shown.id}`)
  assert.match(shown.id, /^im_[\w-]{22}$/)
  assert.is(shown.state, 'ready')
  assert.equal(shown.file, { name: 'Stock 11.csv', rows: 2, sheet: null, format: 'utf-8, separated by commas' })
  assert.equal(shown.columns[1], { name: 'Shape', field: 'cutShape', examples: ['Round', 'Oval'] })
  assert.equal(shown.would, { created: 2, changed: 0, unchanged: 0, deleted: 0, certifications: 1 })
  assert.equal(shown.first[0], {
    sku: 'A-1',
    price: 5000,
    cutShape: 'Round',
    carat: 1.2,
    certification: { laboratory: 'GIA', number: '6201947735' },
  })
  assert.equal(await shownImport(ann, shown.id), shown)
  assert.equal(list(await current(ann, '/v4/diamond')), [])
})

test('may be a workbook, JSON lines, or compressed', async ({ ann }) => {
  const rows = [
    ['sku', 'Shape', 'Carat'],
    ['A', 'Round', 1.5],
  ]
  const contents = [
    await workbook({ Stock: rows }),
    gzipSync('sku,Shape,Carat\nA,Round,1.5\n'),
    '{"sku":"A","cutShape":"Round","carat":1.5}\n',
  ]
  for (const content of contents) {
    const { id, first, file } = await uploaded(ann, content)
    assert.equal([first, file.rows], [[{ sku: 'A', cutShape: 'Round', carat: 1.5 }], 1])
    expect(204, await ann.remove(`/v4/import/${id}`))
  }
})

test('asks what it leaves open, and is ready once every question is answered', async ({ ann }) => {
  const content = 'sku,Shape,Weight,Size,Price,Disc %,Box no,Preis\nA,Round,1,x,100,10,7,\n'
  const { id, state, questions } = await uploaded(ann, content)
  assert.is(state, 'asking')
  assert.equal(
    questions.map(({ option }) => option),
    ['map[Box no]', 'map[Price]', 'map[Preis]', 'map[Weight]', 'map[Size]'],
  )
  expect(409, await ann.send({ method: 'POST', path: `/v4/import/${id}/apply` }))
  const some = importIn(
    expect(200, await ann.patch(`/v4/import/${id}`, { map: { 'Box no': '', Size: '', Preis: '' } })),
  )
  assert.equal([some.state, some.questions.map(({ option }) => option)], ['asking', ['map[Price]']])
  const [question] = some.questions
  assert.equal(question?.choices, ['price', ''])
  const all = importIn(expect(200, await ann.patch(`/v4/import/${id}`, { map: { Price: 'price' } })))
  assert.equal([all.state, all.would.created], ['ready', 1])
  assert.equal(all.options, { map: { 'Box no': '', Size: '', Preis: '', Price: 'price' } })
  const without = importIn(expect(200, await ann.patch(`/v4/import/${id}`, { map: { Price: null } })))
  assert.is(without.state, 'asking')
})

test('may have its questions answered with the upload, by the names of the options', async ({ ann }) => {
  const options = { 'map[Box [mm]]': 'sku', 'mapValue[Make][Super Ideal]': 'Excellent', by: 'sku', decimal: ',' }
  const shown = await uploaded(ann, 'Box [mm];Shape;Carat;Make\nA;Round;1,25;Super Ideal\n', options)
  assert.equal([shown.state, shown.errors], ['ready', []])
  assert.equal(shown.first, [{ sku: 'A', cutShape: 'Round', carat: 1.25, cutQuality: 'Excellent' }])
})

test('names the line, the column and the remedy of each error', async ({ ann }) => {
  const content = `sku,Shape,Carat,Colour\nA,Round,1,G\nB,Round,heavy,G\nC,,1,purple\nA B,Round,1,purple\n`
  const { id, state, errors, errorCount, unknownValues } = await uploaded(ann, content)
  assert.equal([state, errorCount], ['invalid', 4])
  assert.equal(
    errors.map(({ line, column }) => [line, column]),
    [
      [3, 'Carat'],
      [4, 'Shape'],
      [4, 'Colour'],
      [5, 'Colour'],
    ],
  )
  assert.match(errors[0]?.message ?? '', /carat must be a number/)
  assert.equal(
    unknownValues.map(({ option, lines }) => [option, lines]),
    [
      ['mapValue[Colour][purple]', 2],
      ['mapValue[Carat][heavy]', 1],
    ],
  )
  const mapped = importIn(
    expect(200, await ann.patch(`/v4/import/${id}`, { mapValue: { Colour: { purple: 'D' } }, skipBad: true })),
  )
  assert.equal([mapped.state, mapped.errorCount, mapped.would.created], ['ready', 2, 2])
})

test('lists at most a thousand errors, and counts all', async ({ ann }) => {
  const lines = Array.from({ length: 1_500 }, (_, index) => `S-${index},Round,x\n`)
  const { errors, errorCount } = await uploaded(ann, `sku,Shape,Carat\n${lines.join('')}`)
  assert.equal([errors.length, errorCount], [1_000, 1_500])
})

test('may have several sheets, of which the option names one', async ({ ann }) => {
  const sheet = (sku: string) => [
    ['sku', 'Shape', 'Carat'],
    [sku, 'Round', 1],
  ]
  const { id, questions } = await uploaded(ann, await workbook({ Rounds: sheet('A'), Ovals: sheet('B') }))
  assert.equal(
    questions.map(({ option, choices }) => [option, choices]),
    [['sheet', ['Rounds', 'Ovals']]],
  )
  const { file, first } = importIn(expect(200, await ann.patch(`/v4/import/${id}`, { sheet: 'Ovals' })))
  assert.equal([file.sheet, first[0]?.['sku']], ['Ovals', 'B'])
})

test('says what it leaves out or stores otherwise', async ({ ann }) => {
  const content = 'sku,Shape,Carat,Status\nA,Round,1,Sold\nB,Trilliant Special,1,Available\n'
  const { file, remarks, would } = await uploaded(ann, content)
  assert.equal([file.rows, would.created], [2, 1])
  assert.ok(remarks.includes('left out, since they are not for sale: Sold (1)'), remarks.join('\n'))
  assert.ok(remarks.includes('unknown cut shapes, stored as written: Trilliant Special (1)'), remarks.join('\n'))
})

for (const [description, content, message] of [
  ['a PDF', '%PDF-1.7\n', /^The file is a PDF; import a spreadsheet instead$/],
  ['a web page', '<html><table>', /^The file is an HTML or XML file/],
  ['empty', '\n\n', /^The file is empty; the first line must name the columns$/],
  ['without a header', 'just some words\n', /^The file has no header with names of columns/],
  ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /^The file is an Excel 97-2003 workbook/],
  [
    'an archive that is no workbook',
    Buffer.from('504b050600000000000000000000000000000000'.padEnd(44, '0'), 'hex'),
    /^The file/,
  ],
] as const) {
  test(`is refused with 422 if it is ${description}`, async ({ ann }) => {
    const body = refusal(422, await ann.send(uploadRequest(ann, content)))
    assert.match(body.error[0] ?? '', message)
    assert.equal(pointers(body), ['/file'])
  })
}

test('is refused without a file, with too large a file, and with unknown or unusable options', async ({ ann }) => {
  const headers = formHeaders
  const send = (parts: Parameters<typeof formBody>[0]) =>
    ann.send({ method: 'POST', path: '/v4/import', headers, body: formBody(parts) })
  assert.equal(pointers(refusal(422, await send([text('by', 'sku')]))), ['/file'])
  assert.equal(pointers(refusal(422, await ann.send(uploadRequest(ann, '')))), ['/file'])
  assert.equal(pointers(refusal(413, await ann.send(uploadRequest(ann, Buffer.alloc(20 * 1024 * 1024 + 1, 'a'))))), [
    '/file',
  ])
  const refused = async (options: Readonly<Record<string, string>>) =>
    pointers(refusal(422, await ann.send(uploadRequest(ann, GOOD, options))))
  assert.equal(await refused({ nix: '1', by: 'id', deleteMissing: 'perhaps' }), ['/by', '/deleteMissing', '/nix'])
  assert.equal(await refused({ 'map[Shape]': 'form' }), ['/map/Shape'])
  assert.equal(await refused({ 'map[Box/No]': 'sku' }), ['/map/Box~1No'])
  assert.equal(await refused({ 'mapValue[Box][x]': 'y' }), ['/mapValue/Box'])
  assert.equal(await refused({ sheet: '2' }), ['/sheet'])
  assert.equal(await refused({ deleteMissing: 'true' }), ['/deleteMissing'])
  assert.equal(await refused({ by: 'sku', deleteMissing: 'true', skipBad: 'on' }), ['/deleteMissing'])
  expect(415, await ann.post('/v4/import', {}))
})

test('is not kept if ten others of the account wait', async ({ service }) => {
  const ann = await service.newVendor()
  const ids: string[] = []
  for (let count = 0; count < 10; count++)
    ids.push((await uploaded(ann, '{"sku":"A","cutShape":"Round","carat":1}\n')).id)
  const { error } = refusal(422, await ann.send(uploadRequest(ann, GOOD)))
  assert.match(error[0] ?? '', /at most 10 imports that are not applied/)
  const listed = expect(200, await ann.get('/v4/import')).json() as { readonly id: string }[]
  assert.equal(
    listed.map(({ id }) => id),
    ids.toReversed(),
  )
  expect(204, await ann.remove(`/v4/import/${ids[0]}`))
  expect(404, await ann.get(`/v4/import/${ids[0]}`))
  await uploaded(ann, GOOD)
})

test('belongs to its account', async ({ service, bob }) => {
  const ann = await service.newVendor()
  const { id } = await uploaded(ann, GOOD)
  const path = `/v4/import/${id}`
  for (const method of ['GET', 'DELETE']) expect(403, await bob.send({ method, path }))
  expect(403, await bob.patch(path, {}))
  for (const action of ['apply', 'undo']) expect(403, await bob.send({ method: 'POST', path: `${path}/${action}` }))
  assert.not.match(expect(200, await bob.get('/v4/import')).text, id)
  expect(401, await service.send({ path }))
  const unknown = '/v4/import/im_0000000000000000000000'
  expect(404, await ann.get(unknown))
  expect(404, await ann.patch(unknown, {}))
})

test.run()
