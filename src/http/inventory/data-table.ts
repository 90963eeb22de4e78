import { html, NOTHING, type Html } from '../kit/html.ts'

export type TableColumn = { readonly name: string; readonly isNumber?: true }

/**
 * A table whose first cell in each row is the row's header. The ARIA roles are explicit because small screens show each row as
 * a card, and browsers then drop the table semantics.
 */
export const dataTable = (columns: readonly TableColumn[], rows: readonly (readonly (string | Html)[])[]): Html =>
  html`<table role="table">
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map(heading)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map((cells) => row(columns, cells))}
    </tbody>
  </table>`

const heading = (column: TableColumn): Html =>
  html`<th role="columnheader" scope="col" ${numberClass(column)}>${column.name}</th>`

const numberClass = ({ isNumber }: TableColumn): Html => (isNumber === true ? NUMBER : NOTHING)

const NUMBER: Html = { html: 'class="number"' }

const row = ([, ...columns]: readonly TableColumn[], [header = '', ...cells]: readonly (string | Html)[]): Html =>
  html`<tr role="row">
    <th role="rowheader" scope="row">${header}</th>
    ${columns.map((column, index) => cell(column, cells[index] ?? ''))}
  </tr>`

const cell = (column: TableColumn, content: string | Html): Html =>
  html`<td role="cell" data-label="${column.name}" ${numberClass(column)}>${content}</td>`
