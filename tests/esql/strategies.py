"""Strategies that draw values of every type."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

from hypothesis import strategies as st

from esql.operators.datetimes import interval
from esql.values.types import DECIMAL, INTEGER_HIGH, INTEGER_LOW, MICROSECONDS, Bit, qualifier

DAY_TIME = ("DAY", "HOUR", "MINUTE", "SECOND")
QUALIFIERS = (
    *(qualifier("YEAR", "YEAR"), qualifier("YEAR", "MONTH"), qualifier("MONTH", "MONTH")),
    *(qualifier(one, other) for at, one in enumerate(DAY_TIME) for other in DAY_TIME[at:]),
)

integers = st.integers(INTEGER_LOW, INTEGER_HIGH) | st.integers(-100, 100)
decimals = st.decimals(allow_nan=False, allow_infinity=False).map(DECIMAL.create_decimal).filter(
    lambda number: number.is_zero() or -6000 < number.adjusted() < 6000
) | st.builds(lambda digits, scale: Decimal(digits).scaleb(-scale), st.integers(-(10**12), 10**12), st.integers(0, 9))
special_decimals = st.sampled_from([Decimal("Infinity"), Decimal("-Infinity"), Decimal("NaN")])
floats = st.floats(-1e308, 1e308) | st.integers(-999, 999).map(lambda number: number / 8)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=8) | st.text("ab %_", max_size=6)
blobs = st.binary(max_size=6)
bits = st.text("01", max_size=9).map(Bit.of)
dates = st.dates(date(1, 1, 1), date(9999, 12, 31))
times = st.times()
gmt_times = st.times().map(lambda moment: moment.replace(tzinfo=UTC))
timestamps = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))
gmt_timestamps = timestamps.map(lambda moment: moment.replace(tzinfo=UTC))
intervals = st.builds(
    lambda units, count: interval(count if units.has_months else count * MICROSECONDS[units.smallest] // 7, units),
    st.sampled_from(QUALIFIERS),
    st.integers(-(10**6), 10**6),
)

BY_TYPE = {
    "CHARACTER": texts,
    "INTEGER": integers,
    "DECIMAL": decimals | special_decimals,
    "FLOAT": floats,
    "BOOLEAN": st.booleans(),
    "BLOB": blobs,
    "BIT": bits,
    "DATE": dates,
    "TIME": times,
    "GMTTIME": gmt_times,
    "TIMESTAMP": timestamps,
    "GMTTIMESTAMP": gmt_timestamps,
    "INTERVAL": intervals,
}
values = st.one_of(*BY_TYPE.values(), st.none())
