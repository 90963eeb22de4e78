/** Begins the reference page in the browser: the description names BASE_URL, and the page may have been opened by another. */
export const START = `'use strict'
const base = new URL('.', location.href.split(/[?#]/)[0].replace(/\\/+$/, '')).href
fetch(base + 'openapi.json')
  .then((answer) => answer.json())
  .then((spec) =>
    SwaggerUIBundle({
      spec: { ...spec, servers: [{ url: base.replace(/\\/$/, '') }] },
      dom_id: '#reference',
      deepLinking: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      filter: true,
      syntaxHighlight: { activated: true },
      tryItOutEnabled: true,
      validatorUrl: null,
    }),
  )
  .catch((error) => {
    document.getElementById('reference').textContent = 'The description can not be read: ' + error.message
  })
`

/** Around it, before it is drawn too. */
export const STYLE =
  ':root{color-scheme:light}body{margin:0;font-family:system-ui,sans-serif}main{max-width:90rem;margin:0 auto;padding:0 1rem}'
