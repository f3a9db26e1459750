"""The closes of the market files, read by the standard library alone: what the program's own reader is compared with."""
import csv

import numpy as np

# file: delimiter, lines before the first bar, column of the close (from 0)
CLOSES = {
    "binance_klines_1m_headerless.csv": (",", 0, 4),
    "eurusd_hourly.csv": (",", 1, 4),
    "futures_semicolon.csv": (";", 1, 4),
    "gbpusd_1m_offset_no_volume.csv": (",", 1, 4),
    "goog_daily.csv": (",", 1, 4),
    "index_5min_date_time_columns.csv": (",", 1, 5),
    "orcl_daily_yahoo.csv": (",", 1, 4),
    "spx_lwma6_reference.csv": (",", 1, 1),
    "spy_ninjatrader_semicolon_headerless.csv": (";", 0, 4),
    "wig20_polish_names.csv": (",", 1, 4),
}

# file: what the program must be told beside it
OPTIONS = {
    "wig20_polish_names.csv": ("--close", "Zamkniecie", "--time", "Data"),
}


def read_close(folder, name):
    delimiter, lines_before, column = CLOSES[name]
    with open(folder / name, encoding="utf-8-sig", newline="") as f:
        rows = list(csv.reader(f, delimiter=delimiter))[lines_before:]
    return np.array([float(row[column]) for row in rows if row])
