import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../until.ts'
import { CommandLine } from './command-line.ts'

type Context = { commands: CommandLine; sheet: (content: string | Buffer, name?: string) => string }
const test = suite<Context>('import')
test.before.each(async (context) => {
  const commands = await CommandLine.onEngines()
  context.commands = commands
  context.sheet = (content, name = 'stones.csv') => {
    const file = join(commands.folder, name)
    writeFileSync(file, content)
    return file
  }
  await commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
})
test.after.each(({ commands }) => commands.remove())

const USER = ['--user', 'a@example.com', '--json']
const GOOD = 'SKU,cutshape,Carat,color,isLabGrown,price,date\nA-1,Round,0.71,G,yes,1200,yesterday\n007,Pear,1,,,,\n'
const BAD = 'sku,cutShape,carat\nA-1,Round,0.7\nA-2,Round,-1\nA-3,Round\n"A\n4",Round,much\n'

type Event = { readonly data: { readonly set: unknown } }
const created = async (commands: CommandLine) => {
  const { out } = await commands.run(['events', 'diamond-', '--json'])
  const lines = out.split('\n').filter((line) => line !== '')
  return lines.map((line) => (JSON.parse(line) as Event).data.set)
}

test('creates a stone per line, with headings in any case, no value for empty cells, numbers and booleans', async (context) => {
  const { code, out } = await context.commands.run(['import', context.sheet(GOOD), ...USER])
  assert.is(code, 0)
  assert.is(JSON.parse(out).imported, 2)
  assert.equal(await created(context.commands), [
    { sku: 'A-1', cutShape: 2, carat: 0.71, price: 1200, isLabGrown: true, color: 18 },
    { sku: '007', cutShape: 22, carat: 1 },
  ])
})

test('recognizes columns of trade spreadsheets, unless a column has the name of the field', async (context) => {
  const traded = 'Stock #,Shape,Weight,Colour,Cut Grade,Lab-Grown\nA-1,Round,0.71,G,EX,no\n'
  assert.is((await context.commands.run(['import', context.sheet(traded), ...USER])).code, 0)
  const both = 'sku,cutShape,carat,weight\nA-2,Round,1,2 g\n'
  const refused = await context.commands.run(['import', context.sheet(both), ...USER])
  assert.is(refused.code, 2)
  assert.match(refused.err, 'The column weight is not a field of a v4 diamond')
  assert.is((await context.commands.run(['import', context.sheet(both), ...USER, '--ignore-unknown'])).code, 0)
  assert.equal(await created(context.commands), [
    { sku: 'A-1', cutShape: 2, carat: 0.71, color: 18, cutQuality: 1 },
    { sku: 'A-2', cutShape: 2, carat: 1 },
  ])
})

test('reads a compressed file', async (context) => {
  const { code } = await context.commands.run(['import', context.sheet(gzipSync(GOOD), 'a.csv.gz'), ...USER])
  assert.is(code, 0)
  assert.is((await created(context.commands)).length, 2)
})

test('reports invalid lines by number and writes nothing', async (context) => {
  const { code, out, err } = await context.commands.run(['import', context.sheet(BAD), ...USER])
  assert.is(code, 1)
  assert.match(err, 'line 3: carat must be a number greater than 0')
  assert.match(err, 'line 4: has 2 cells, but the header has 3')
  assert.equal(
    JSON.parse(out).bad.map(({ line }: { line: number }) => line),
    [3, 4, 6],
  )
  assert.equal(await created(context.commands), [])
})

test('skips invalid lines with --skip-bad', async (context) => {
  const { code, out } = await context.commands.run(['import', context.sheet(BAD), ...USER, '--skip-bad'])
  assert.is(code, 0)
  assert.is(JSON.parse(out).imported, 1)
  assert.is((await created(context.commands)).length, 1)
})

test('refuses an unknown column with a suggestion, unless --ignore-unknown is given', async (context) => {
  const file = context.sheet('sku,cutShape,carat,colur\nA,Round,1,G\n')
  const stopped = await context.commands.run(['import', file, ...USER])
  assert.is(stopped.code, 2)
  assert.match(stopped.err, 'colur is not a field of a v4 diamond; did you mean color?')
  assert.equal(await created(context.commands), [])

  const ignored = await context.commands.run(['import', file, ...USER, '--ignore-unknown'])
  assert.is(ignored.code, 0)
  assert.equal(await created(context.commands), [{ sku: 'A', cutShape: 2, carat: 1 }])
})

test('refuses an unknown account, a missing file and a truncated archive', async ({ commands, sheet }) => {
  const good = sheet(GOOD)
  const unknown = await commands.run(['import', good, '--user', 'b@example.com'])
  assert.is(unknown.code, 1)
  assert.match(unknown.err, 'There is no account b@example.com')
  const missing = await commands.run(['import', `${good}.gone`, ...USER])
  assert.is(missing.code, 1)
  assert.match(missing.err, 'does not exist')
  const broken = await commands.run(['import', sheet(gzipSync(GOOD).subarray(0, -9), 'b.csv.gz'), ...USER])
  assert.is(broken.code, 1)
  assert.match(broken.err, 'unexpected end of file')
})

test('reads separators, decimal commas and encodings of different countries', async (context) => {
  const sheets: [string, Buffer][] = [
    ['semicolons', Buffer.from('Stock #;Shape;Weight;Price\nÜ-1;Round;0,71;1.200,50\nÜ-2;Pear;1,5;900\n')],
    ['tabs', Buffer.from('Stock #\tShape\tWeight\tPrice\nÜ-1\tRound\t0.71\t"1,200.50"\nÜ-2\tPear\t1.5\t900\n')],
    [
      'utf-16',
      Buffer.from('\ufeffsku,cutShape,carat,price\r\nÜ-1,Round,0.71,1200.5\r\nÜ-2,Pear,1.5,900\r\n', 'utf16le'),
    ],
    ['windows-1252', Buffer.from('sku;cutShape;carat;price\nÜ-1;Round;0,71;1200,5\nÜ-2;Pear;1,5;900\n', 'latin1')],
    ['thousands', Buffer.from('sku,cutShape,carat,price\nÜ-1,Round,0.71,"1,200.50"\nÜ-2,Pear,1.5,900\n')],
  ]
  for (const [name, bytes] of sheets) {
    const { code, err } = await context.commands.run(['import', context.sheet(bytes, `${name}.csv`), ...USER])
    assert.is(code, 0, `${name}: ${err}`)
  }
  const stones = await created(context.commands)
  assert.is(stones.length, 2 * sheets.length)
  for (const [index, stone] of stones.entries()) {
    const expected =
      index % 2 === 0
        ? { sku: 'Ü-1', cutShape: 2, carat: 0.71, price: 1200.5 }
        : { sku: 'Ü-2', cutShape: 22, carat: 1.5, price: 900 }
    assert.equal(stone, expected, sheets[Math.floor(index / 2)]?.[0])
  }
})

test('uses the columns that --map names, and reports the mapping of all columns', async ({ commands, sheet }) => {
  const file = sheet('Lot,Shape,ct,Remark\nA-1,Round,0.71,nice\n')
  const mapped = await commands.run([
    'import',
    file,
    ...USER,
    '--map',
    'Lot=sku',
    '--map',
    'ct=carat',
    '--map',
    'Remark=',
  ])
  assert.is(mapped.code, 0, mapped.err)
  assert.equal(JSON.parse(mapped.out).mapping, { Lot: 'sku', Shape: 'cutShape', ct: 'carat', Remark: null })
  assert.match(
    mapped.err,
    'columns: Lot = sku, Shape = cutShape, ct = carat, Remark (ignored) (utf-8, separated by commas)',
  )
  assert.equal(await created(commands), [{ sku: 'A-1', cutShape: 2, carat: 0.71 }])
  const unknown = await commands.run(['import', file, ...USER, '--map', 'Lot=lot'])
  assert.is(unknown.code, 2)
  assert.match(unknown.err, '--map Lot must be a field of a v4 diamond, or empty, got lot; the fields are ')
  const absent = await commands.run(['import', file, ...USER, '--map', 'Nix=sku'])
  assert.is(absent.code, 2)
  assert.match(absent.err, 'the columns are Lot, Shape, ct, Remark')
})

test('reads stdin, and writes nothing with --dry-run', async ({ commands }) => {
  const dry = await commands.run(['import', '-', ...USER, '--dry-run'], {}, GOOD)
  assert.is(dry.code, 0, dry.err)
  assert.is(JSON.parse(dry.out).created, 0)
  assert.equal(await created(commands), [])
  const { code, out } = await commands.run(['import', '-', ...USER], {}, GOOD)
  assert.is(code, 0)
  assert.is(JSON.parse(out).created, 2)
  assert.is((await created(commands)).length, 2)
})

test('leaves the read models of a running service right, also when its undo restores a report', async ({
  commands,
  sheet,
}) => {
  const server = commands.start(['serve', '--json'])
  await server.line()
  const list = (number: number) => sheet(`Stock #,Shape,Weight,Lab,Cert #\nA-1,Round,1,GIA,${number}\n`)
  await commands.json('import', list(6201947735), ...USER.slice(0, -1), '--update-by', 'sku')
  const { undo } = await commands.json('import', list(6201947736), ...USER.slice(0, -1), '--update-by', 'sku')
  await commands.json('import', '--undo', String(undo))
  const { ok, models } = await commands.json('verify')
  assert.is(ok, true)
  assert.is((models as Record<string, { documents: number }>)['certifications']?.documents, 1)
  server.kill('SIGTERM')
  await server.ended
})

test('waits until the running service has projected the stones', async ({ commands, sheet }) => {
  const server = commands.start(['serve', '--json'])
  await server.line()
  await server.freeze()
  const importing = commands.startWithLongTimeouts(['import', sheet(GOOD), ...USER])
  let hasEnded = false
  void importing.ended.then(() => (hasEnded = true))
  await until('the stones', async () => (await created(commands)).length === 2)
  // An import that did not wait would end before this other process has started and ended.
  await commands.start(['events', '--json']).ended
  assert.not.ok(hasEnded)
  server.kill('SIGCONT')
  const { code, out, err } = await importing.ended
  assert.is(code, 0, err)
  assert.is(JSON.parse(out).imported, 2)
  server.kill('SIGTERM')
  await server.ended
})

test.run()
