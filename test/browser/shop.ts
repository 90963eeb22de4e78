import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A vendor's site on another origin than the service. */
export type Shop = {
  readonly origin: string
  /** The address of a page that has this line of HTML in its body. */
  readonly pageWith: (line: string) => string
}

/** It ends with the process. */
export async function startShop(): Promise<Shop> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost')
    const body = `<h1>Our stones</h1>${searchParams.get('line') ?? ''}`
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end(
      `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><main>${body}</main></html>`,
    )
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done).unref())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    pageWith: (line) => `${origin}/?${new URLSearchParams({ line }).toString()}`,
  }
}
