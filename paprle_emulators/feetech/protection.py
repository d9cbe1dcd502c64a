"""A servo's protections."""

from __future__ import annotations

from paprle_emulators.feetech.memory import Memory

# spec: memory table, bits of Status, of Unloading_Condition and of the error byte
VOLTAGE, SENSOR, HEAT, CURRENT, OVERLOAD = 0x01, 0x02, 0x04, 0x08, 0x20
LASTING = SENSOR | CURRENT | OVERLOAD
TIME_UNIT = 0.01  # spec: memory table, Protection_Time [s]
CURRENT_UNIT = 0.0065  # spec: memory table, Protection_Current [A]
PERCENT = 100
FULL = 1000  # spec: memory table, whole torque
AMBIENT = 25.0  # chosen: temperature of the room [°C]
# measured: SO-ARM100's issue 134, half the stall torque: 48 °C, steady after 10 min
HEATING, WARMING = 92.0, 180.0  # rise at stall [°C], time constant [s]


class Protection:
    """Protections of one servo.

    Attributes:
        temperature: [°C].
        is_tripped: Overload has reduced torque.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.temperature = AMBIENT
        self.forced = 0
        self.begin()

    def begin(self) -> None:
        """Restart after power-up."""
        self._over = self._strong = 0.0
        self.is_tripped = False
        self.refresh()

    def refresh(self) -> None:
        """Take the settings."""
        get = self._memory.get
        self._limit = get("Torque_Limit") / FULL
        self._overload = get("Overload_Torque") / PERCENT
        self._protective = get("Protective_Torque") / PERCENT
        self._patience = get("Protection_Time") * TIME_UNIT
        self._current = get("Protection_Current") * CURRENT_UNIT
        self._current_patience = get("Over_Current_Protection_Time") * TIME_UNIT
        self._unloading = get("Unloading_Condition")

    @property
    def most(self) -> float:
        """Greatest duty."""
        return min(self._limit, self._protective) if self.is_tripped else self._limit

    def raise_bits(self, bits: int) -> None:
        """Set Status bits, with their protective effect."""
        self._memory.put("Status", self._memory.get("Status") | bits)
        active = bits & self._unloading
        if active & OVERLOAD:
            self.is_tripped = True
        if active & ~OVERLOAD:
            self._memory.put("Torque_Enable", 0)

    def recover(self) -> None:
        """End an overload."""
        self._over, self.is_tripped = 0.0, False
        self._memory.put("Status", self._memory.get("Status") & ~LASTING)

    def watch(self, duty: float, current: float, dt: float) -> None:
        """Watch duty and current [A], dt [s]."""
        if not self.is_tripped:
            is_over = abs(duty) > self._overload
            self._over = self._over + dt if is_over else 0.0
            if self._over > self._patience:
                self.raise_bits(OVERLOAD)
        is_strong = current > self._current
        self._strong = self._strong + dt if is_strong else 0.0
        if self._strong > self._current_patience:
            self.raise_bits(CURRENT)

    def warm(self, load: float, dt: float) -> None:
        """Warm up by a stall torque share, dt [s]."""
        rise = AMBIENT + HEATING * load * load - self.temperature
        self.temperature += rise * dt / WARMING

    def check(self, voltage: float) -> None:
        """Check temperature and supply [V]."""
        get = self._memory.get
        lasting = get("Status") & LASTING
        bits = self.forced
        low, high = get("Min_Voltage_Limit"), get("Max_Voltage_Limit")
        if voltage > 0 and not low <= voltage * 10 <= high:
            bits |= VOLTAGE
        if self.temperature > get("Max_Temperature_Limit"):
            bits |= HEAT
        self._memory.put("Status", lasting)
        if bits:
            self.raise_bits(bits)
