import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { qrCode } from '../../../src/http/report/report-page.ts'
import { qrTextOf } from '../../fixtures/qr-code.ts'

const test = suite('a QR code')

const signature = 'Zm9yYWRheS1hbmQtbm8tbG9uZ2VyLXNlZT8'
for (const text of [
  'http://localhost:8080/diamond/1',
  `https://stones.example.com/diamond/9007199254740991?signature=${signature}`,
  `https://a-host-with-a-long-name.vendors.example.com/behind/a/proxy/diamond/337?signature=${signature}`,
]) {
  test(`decodes to its ${text.length} characters`, () => {
    assert.is(qrTextOf(qrCode(text, 'An address').html), text)
  })
}

test('is black on white with a quiet zone of four modules and a label', () => {
  const { html } = qrCode('http://localhost:8080/diamond/1', 'An "address"')
  assert.match(html, 'viewBox="-4 -4 37 37"')
  assert.match(html, '<path fill="#fff" d="M-4 -4h37v37h-37z" />')
  assert.match(html, /role="img"\s+aria-label="An &quot;address&quot;"/)
})

test.run()
