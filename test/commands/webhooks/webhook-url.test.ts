import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { faultOfUrl, isPublicAddress } from '../../../src/commands/webhooks/webhook-url.ts'

const test = suite('the URL of a webhook')

const STRICT = { http: false, private: false }
const LAX = { http: true, private: true }

const good = [
  'https://example.com',
  'https://example.com/hook?key=1',
  'https://example.com:443/',
  'https://example.com:1024/',
  'https://example.com:65535/',
  'https://bücher.example/hook',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/',
]
for (const url of good) test(`may be ${url}`, () => assert.is(faultOfUrl(url, STRICT), undefined))

const bad = [
  '',
  'example.com',
  '/hook',
  'https://',
  'https://exa mple.com/',
  ' https://example.com/',
  'https://example.com/\n',
  'https:\\\\example.com\\',
  'http://example.com:8080/',
  'ftp://example.com/',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'https://user@example.com/',
  'https://user:password@example.com/',
  'https://:password@example.com/',
  'https://example.com/#fragment',
  'https://example.com:80/',
  'https://example.com:22/',
  'https://example.com:1023/',
  'https://example.com:0/',
  `https://example.com/${'x'.repeat(2_000)}`,
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://10.0.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://100.64.0.1/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[fe80::1]/',
]
for (const url of bad) {
  test(`may not be ${JSON.stringify(url.slice(0, 60))}`, () => assert.type(faultOfUrl(url, STRICT), 'string'))
}

test('may be http and private if the operator allows it, with the same port rules', () => {
  assert.is(faultOfUrl('http://127.0.0.1:8080/', LAX), undefined)
  assert.is(faultOfUrl('https://[::1]/', LAX), undefined)
  assert.match(faultOfUrl('http://127.0.0.1/', LAX) ?? '', /port must be 443 or from 1024 up, got 80/)
  assert.type(faultOfUrl('ftp://127.0.0.1:8080/', LAX), 'string')
})

const table: readonly (readonly [address: string, isPublic: boolean])[] = [
  ['1.1.1.1', true],
  ['100.63.255.255', true],
  ['100.128.0.0', true],
  ['172.15.255.255', true],
  ['172.32.0.0', true],
  ['223.255.255.255', true],
  ['2001:200::1', true],
  ['2a00:1450:4001:80e::200e', true],
  ['0.0.0.0', false],
  ['10.255.255.255', false],
  ['100.64.0.0', false],
  ['100.127.255.255', false],
  ['127.255.255.254', false],
  ['169.254.169.254', false],
  ['172.16.0.0', false],
  ['172.31.255.255', false],
  ['192.0.0.8', false],
  ['192.0.2.1', false],
  ['192.88.99.1', false],
  ['192.168.0.1', false],
  ['198.18.0.1', false],
  ['198.19.255.255', false],
  ['198.51.100.1', false],
  ['203.0.113.1', false],
  ['224.0.0.1', false],
  ['239.255.255.255', false],
  ['240.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['::ffff:8.8.8.8', false],
  ['::ffff:10.0.0.1', false],
  ['::8.8.8.8', false],
  ['64:ff9b::a00:1', false],
  ['64:ff9b:1::1', false],
  ['100::1', false],
  ['2001::1', false],
  ['2001:db8::1', false],
  ['2002:a00:1::1', false],
  ['3fff::1', false],
  ['5f00::1', false],
  ['fc00::1', false],
  ['fd12:3456::1', false],
  ['fe80::1', false],
  ['fe80::1%eth0', false],
  ['fec0::1', false],
  ['ff02::1', false],
  ['2606:4700::1%eth0', false],
  ['example.com', false],
  ['', false],
]
for (const [address, isPublic] of table) {
  test(`may ${isPublic ? '' : 'not '}resolve to ${address || 'an empty address'}`, () => {
    assert.is(isPublicAddress(address), isPublic)
  })
}

test.run()
