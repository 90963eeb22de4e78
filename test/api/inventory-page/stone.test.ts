import * as assert from 'uvu/assert'
import { attached, file, pathOf, smallPdf, text, upload } from '../harness/form.ts'
import { expect, type ApiResponse } from '../harness/request.ts'
import { apiSuite, GENEROUS_TIMEOUT_MS } from '../harness/service.ts'
import { created, shown } from '../harness/stones.ts'
import { isLogIn, newOwner, type Owner } from './browser.ts'

const test = apiSuite('a stone in the list', { readModelTimeoutMs: GENEROUS_TIMEOUT_MS })

/** The fields of the form that saves a stone, as the list shows them. */
async function savedFields({ openPage }: Owner, id: number): Promise<Record<string, string>> {
  const { text: page } = expect(200, await openPage('/inventory'))
  const [, form = ''] = page.split(`action="inventory/${id}"`)
  const valueOf = (name: string) => new RegExp(`name="${name}"[^>]*?value="([^"]*)"`).exec(form)?.[1] ?? ''
  return { revision: valueOf('revision'), price: valueOf('price'), access: '0', do: 'save' }
}

const alertIn = ({ text: page }: ApiResponse) => /role="alert">([^<]*)</.exec(page)?.[1] ?? ''

test('gets another price, access and publication, and the form leads back to the list', async ({ service }) => {
  const ann = await newOwner(service)
  const { id } = await created(ann.owner, { price: 4200, access: 0 })
  const fields = await savedFields(ann, id)
  assert.is(fields['price'], '4200')
  const change = { ...fields, price: '3999.5', access: '2', isPublished: '1', page: 'inventory?sort=carat' }
  const response = expect(303, await ann.submit(`/inventory/${id}`, change))
  assert.is(response.headers.location, `../inventory?sort=carat#stone-${id}`)
  assert.match((await ann.openPage('/inventory')).text, '3,999.50')
  const { price, access } = shown(await ann.owner.get(`/v4/diamond/${id}`))
  assert.equal([price, access], [3999.5, 2])
  assert.is(shown(await ann.owner.get(`/v3/diamond/${id}`))['isPublished'], true)
  expect(303, await ann.submit(`/inventory/${id}`, { ...(await savedFields(ann, id)), price: '' }))
  assert.is(shown(await ann.owner.get(`/v4/diamond/${id}`))['price'], null)
  assert.is(shown(await ann.owner.get(`/v3/diamond/${id}`))['isPublished'], false)
})

test('shows its form again if a value is invalid, or it was changed in the meantime', async ({ service }) => {
  const ann = await newOwner(service)
  const { id } = await created(ann.owner, { price: 4200 })
  const fields = await savedFields(ann, id)
  const invalid = expect(422, await ann.submit(`/inventory/${id}`, { ...fields, price: '-7' }))
  assert.match(alertIn(invalid), 'price must be')
  assert.ok(invalid.text.includes('value="-7"'))
  expect(200, await ann.owner.patch(`/v4/diamond/${id}`, { price: 5000 }))
  const outdated = expect(412, await ann.submit(`/inventory/${id}`, { ...fields, price: '4100' }))
  assert.match(alertIn(outdated), 'The stone was changed since the form was shown.')
  assert.ok(outdated.text.includes('value="5000"'))
  assert.is(shown(await ann.owner.get(`/v4/diamond/${id}`))['price'], 5000)
  const revision = /name="revision" value="(\d+)"/.exec(outdated.text)?.[1] ?? ''
  expect(303, await ann.submit(`/inventory/${id}`, { ...fields, revision, price: '4100' }))
})

test('gets a report with its PDF, and the PDF of a report that has none', async ({ service }) => {
  const ann = await newOwner(service)
  const { id } = await created(ann.owner)
  const reports = async () =>
    shown(await ann.owner.get(`/v4/diamond/${id}`))['certifications'] as {
      laboratory: string
      number: string | null
      file: string | null
    }[]
  const attach = (laboratory: string, number: string) => [
    text('do', 'attach'),
    text('laboratory', laboratory),
    text('number', number),
  ]
  expect(303, await ann.submitFile(`/inventory/${id}`, [...attach('GIA', '621'), file('', '')]))
  assert.equal(
    (await reports()).map(({ number, file: pdf }) => [number, pdf]),
    [['621', null]],
  )
  const { text: page } = await ann.openPage('/inventory')
  assert.match(page, 'PDF of GIA 621')
  const replaces = text('replaces', /name="replaces" value="(\d+)"/.exec(page)?.[1] ?? '')
  const pdf = smallPdf()
  expect(303, await ann.submitFile(`/inventory/${id}`, [...attach('GIA', '621'), replaces, file(pdf, '621.pdf')]))
  const [report, ...others] = await reports()
  assert.equal([report?.number, others], ['621', []])
  const { headers } = expect(200, await service.send({ path: pathOf(report?.file ?? '') }))
  assert.is(Number(headers['content-length']), pdf.length)
  assert.not((await ann.openPage('/inventory')).text.includes('PDF of GIA 621'))
  expect(303, await ann.submitFile(`/inventory/${id}`, [...attach('IGI', ''), file(smallPdf(), 'x.pdf')]))
  assert.equal(
    (await reports()).map(({ laboratory, number }) => [laboratory, number]),
    [
      ['GIA', '621'],
      ['IGI', null],
    ],
  )
})

test('shows why a report was rejected', async ({ service }) => {
  const ann = await newOwner(service)
  const { id } = await created(ann.owner)
  const attach = [text('do', 'attach'), text('laboratory', 'GIA')]
  const other = await ann.submitFile(`/inventory/${id}`, [...attach, file('not a PDF', 'a.pdf')])
  assert.match(alertIn(expect(415, other)), 'file must be a PDF')
  assert.match(
    alertIn(expect(422, await ann.submit(`/inventory/${id}`, { do: 'attach', laboratory: 'ABC' }))),
    'laboratory',
  )
  const { id: another } = await created(ann.owner)
  const elsewhere = await attached(ann.owner, another)
  const replaced = await ann.submitFile(`/inventory/${id}`, [...attach, text('replaces', elsewhere.id)])
  assert.match(alertIn(expect(404, replaced)), 'There is no certification')
})

test('is deleted with its reports', async ({ service }) => {
  const ann = await newOwner(service)
  const { id } = await created(ann.owner)
  const { headers } = expect(303, await ann.submit(`/inventory/${id}`, { do: 'delete', page: 'inventory?limit=50' }))
  assert.is(headers.location, '../inventory?limit=50')
  expect(404, await ann.owner.get(`/v4/diamond/${id}`))
  expect(404, await ann.submit(`/inventory/${id}`, { do: 'delete' }))
})

test('is changed only by its owner, from a page of the service', async ({ service }) => {
  const [ann, bob] = [await newOwner(service), await newOwner(service)]
  const { id } = await created(ann.owner)
  const remove = { do: 'delete' }
  expect(404, await bob.submit(`/inventory/${id}`, remove))
  expect(403, await ann.submit(`/inventory/${id}`, remove, { 'Sec-Fetch-Site': 'cross-site' }))
  assert.ok(isLogIn(expect(200, await ann.submit(`/inventory/${id}`, remove, { Cookie: 'adamant=x' }))))
  expect(400, await ann.submit(`/inventory/${id}`, { do: 'burn' }))
  const { headers } = expect(
    303,
    await ann.submit(`/inventory/${id}`, { ...(await savedFields(ann, id)), page: '//evil.example' }),
  )
  assert.is(headers.location, `../inventory#stone-${id}`)
  expect(200, await ann.owner.get(`/v4/diamond/${id}`))
})

test('can have a report that another program has replaced', async ({ service }) => {
  const ann = await newOwner(service)
  const { id } = await created(ann.owner)
  const { id: report } = expect(
    201,
    await upload(ann.owner, [text('product', id), text('laboratory', 'GIA')]),
  ).json() as { id: number }
  expect(204, await ann.owner.remove(`/v4/certification/${report}`))
  const attach = [text('do', 'attach'), text('laboratory', 'GIA'), text('replaces', report), file(smallPdf(), 'a.pdf')]
  expect(404, await ann.submitFile(`/inventory/${id}`, attach))
  assert.equal(shown(await ann.owner.get(`/v4/diamond/${id}`))['certifications'], [])
})

test.run()
