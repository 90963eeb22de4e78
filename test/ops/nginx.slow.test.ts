import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { file, formBody, formHeaders, smallPdf, text as part } from '../api/harness/form.ts'
import { startService, type Service } from '../api/harness/service.ts'
import { created, stone } from '../api/harness/stones.ts'
import { isInstalled } from '../docs/blocks.ts'
import { freePort } from '../free-port.ts'
import { until } from '../until.ts'

const NAME = 'api.example.com'

type ProxyResponse = {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly text: string
}
type ProxyRequest = {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Called with the text received so far; true ends the request. */
  readonly isEnough?: (text: string) => boolean
}

/** nginx with ops/nginx.conf in front of a service. */
class NginxProxy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'adamant-nginx-'))
  #nginx: ChildProcess | undefined
  #port = 0
  #ca = ''

  async start(servicePort: number): Promise<void> {
    const plain = await freePort()
    this.#port = await freePort()
    const at = (name: string) => join(this.#folder, name)
    const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`]
    const files = ['-keyout', at('privkey.pem'), '-out', at('fullchain.pem')]
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files], {
      stdio: 'ignore',
    })
    this.#ca = readFileSync(at('fullchain.pem'), 'utf8')
    const site = readFileSync(new URL('../../ops/nginx.conf', import.meta.url), 'utf8')
      .replace('127.0.0.1:8080', `127.0.0.1:${servicePort}`)
      .replace('listen 80;', `listen 127.0.0.1:${plain};`)
      .replace('listen 443 ', `listen 127.0.0.1:${this.#port} `)
      .replaceAll('/etc/ssl/adamant', this.#folder)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${at(name)};`,
    )
    const whole = `daemon off;\npid ${at('pid')};\nerror_log ${at('error.log')};\nevents {}\nhttp {\n${temporary.join('\n')}\n${site}}\n`
    mkdirSync(at('logs'))
    writeFileSync(at('nginx.conf'), whole)
    this.#nginx = spawn('nginx', ['-p', this.#folder, '-c', at('nginx.conf'), '-e', at('error.log')], {
      stdio: 'ignore',
    })
    await until('nginx to answer', () =>
      this.send({ path: '/health/live' }).then(
        () => true,
        () => false,
      ),
    )
  }

  send({ method = 'GET', path, headers = {}, body, isEnough }: ProxyRequest): Promise<ProxyResponse> {
    return new Promise((done, fail) => {
      const options = { host: '127.0.0.1', port: this.#port, servername: NAME, ca: this.#ca, method, path }
      const sending = request({ ...options, headers: { Host: NAME, ...headers } }, (response) => {
        let text = ''
        const end = () => done({ status: response.statusCode ?? 0, headers: response.headers, text })
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString()
          if (isEnough?.(text) !== true) return
          end()
          sending.destroy()
        })
        response.on('end', end)
      })
      sending.on('error', fail)
      sending.end(body)
    })
  }

  async stop(): Promise<void> {
    if (this.#nginx?.kill('SIGTERM') === true) await once(this.#nginx, 'exit')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

type Context = { service: Service; proxy: NginxProxy; authorized: Readonly<Record<string, string>> }
const test = suite<Context>('ops/nginx.conf in front of the service')

const base = `https://${NAME}`
const SETTINGS = { TRUST_PROXY: '1', BASE_URL: base, AUTH_URL: base, SECRETS_URL: base, RATE_LIMIT: '5' }

if (isInstalled('nginx', ['-v']) && isInstalled('openssl', ['version'])) {
  test.before(async (context) => {
    context.service = await startService({ settings: SETTINGS })
    context.proxy = new NginxProxy()
    await context.proxy.start(Number(new URL(context.service.url).port))
    context.authorized = { Authorization: `Bearer ${context.service.ann.token}` }
  })
  test.after(async ({ service, proxy }) => {
    await proxy.stop()
    await service.stop()
  })

  test("passes on the service's responses, with links to its own address and HSTS", async (context) => {
    const { proxy, authorized } = context
    const body = JSON.stringify(stone({ sku: 'TLS' }))
    const headers = { ...authorized, 'Content-Type': 'application/json', 'X-Request-Id': 'mine' }
    const made = await proxy.send({ method: 'POST', path: '/v4/diamond', headers, body })
    assert.is(made.status, 201, made.text)
    assert.is(made.headers['x-request-id'], 'mine')
    assert.match(String(made.headers['strict-transport-security']), /max-age=\d+/)
    assert.match(made.text, `"href":"${base}/diamond/`)
    const listed = await proxy.send({ path: '/v4/diamond?f[sku][]=TLS', headers: authorized })
    assert.is(listed.headers['x-total-count'], '1')
  })

  test('leaves size limits to the service', async ({ proxy, service, authorized }) => {
    const large = Buffer.alloc(9 * 1024 * 1024, 0x20)
    const json = { ...authorized, 'Content-Type': 'application/json' }
    const refused = await proxy.send({ method: 'POST', path: '/v4/diamond', headers: json, body: large })
    assert.is(refused.status, 413)
    assert.ok('requestId' in (JSON.parse(refused.text) as object))
    const { id } = await created(service.ann)
    const report = formBody([part('product', id), part('laboratory', 'GIA'), file(smallPdf(9 * 1024 * 1024))])
    const headers = { ...authorized, ...formHeaders }
    const attached = await proxy.send({ method: 'POST', path: '/v4/certification', headers, body: report })
    assert.is(attached.status, 201, attached.text)
    const ids = Array.from({ length: 900 }, (_, index) => `f[id][]=${index + 1}`).join('&')
    assert.is((await proxy.send({ path: `/v4/diamond?${ids}`, headers: authorized })).status, 200)
  })

  test('streams changes without buffering, and does not time out a long poll', async (context) => {
    const { proxy, service, authorized } = context
    const stream = proxy.send({
      path: '/v4/diamond/changes?after=now',
      headers: { ...authorized, Accept: 'text/event-stream' },
      isEnough: (text) => text.includes('"sku":"STREAMED"'),
    })
    const waiting = proxy.send({ path: '/v4/diamond/changes?after=now&wait=60', headers: authorized })
    let receivedCount = 0
    for (const one of [stream, waiting]) void one.then(() => receivedCount++)
    // Each request may start after the last change, so another change is made until both have got one.
    await until(
      'both to get a change',
      async () => (await created(service.ann, { sku: 'STREAMED' })) && receivedCount === 2,
    )
    assert.match((await stream).text, /^:\n\n[^]*event: change\n/)
    assert.is((await waiting).status, 200)
  })

  test('replaces a forged client address, and hides the metrics', async ({ proxy }) => {
    const readStatus = (claimed: number) =>
      proxy.send({ path: '/api/v1/status', headers: { 'X-Forwarded-For': `192.0.2.${claimed}` } })
    assert.is((await readStatus(0)).status, 200)
    let attempt = 0
    await until(
      'one limit for all claimed addresses',
      async () => (await readStatus((attempt = (attempt + 1) % 250))).status === 429,
    )
    assert.is((await proxy.send({ path: '/metrics' })).status, 404)
  })

  test('answers 503 with Retry-After while the service is unavailable', async () => {
    const alone = new NginxProxy()
    try {
      await alone.start(await freePort())
      const away = await alone.send({ path: '/v4/diamond' })
      assert.is(away.status, 503)
      assert.is(away.headers['retry-after'], '5')
      const { error, requestId } = JSON.parse(away.text) as { error: string[]; requestId: string }
      assert.match(error.join(), 'not reachable')
      assert.is(requestId, away.headers['x-request-id'])
    } finally {
      await alone.stop()
    }
  })
}

test.run()
