"""The dialog: a source, its variables, and how one of them becomes layers."""

import os

from qgis.core import QgsApplication, QgsSettings, QgsTask
from qgis.PyQt.QtCore import Qt, pyqtSignal
from qgis.PyQt.QtWidgets import (QAbstractItemView, QComboBox, QDialog, QDialogButtonBox, QFileDialog, QFormLayout, QHBoxLayout, QHeaderView,
                                 QLabel, QMenu, QPlainTextEdit, QProgressBar, QPushButton, QScrollArea, QToolButton, QTreeWidget,
                                 QTreeWidgetItem, QVBoxLayout, QWidget)

from . import driver, source

RECENT, DRIVER_FOLDER, MOST_RECENT = "refs/recent", "refs/driverFolder", 10
HINT = "A file, a folder, a pattern such as /data/*.nc, a URL, a STAC item, an Icechunk repository, or a name of the driver (REFS:…)"
VARIABLE = Qt.ItemDataRole.UserRole


def find_driver():
    return driver.find(QgsSettings().value(DRIVER_FOLDER, "", type=str))


class Dialog(QDialog):
    """Emits what the user chooses; everything that reads runs in tasks."""

    chosen = pyqtSignal(object, bool)  # source.Raster, and whether each time is a layer

    def __init__(self, parent=None):
        super().__init__(parent)
        self.setWindowTitle("Add Reference Set Layer")
        self.setObjectName("refsDialog")
        self._task = None
        self._choices = {}  # dimension: QComboBox
        self._build()
        self._look_for_driver()
        self.resize(720, 520)

    # -- widgets ----------------------------------------------------------------------------------

    def _build(self):
        whole = QVBoxLayout(self)
        whole.addWidget(self._build_installation(), 1)
        self.body = QWidget()
        whole.addWidget(self.body, 1)
        layout = QVBoxLayout(self.body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addLayout(self._build_source())
        self.variables = QTreeWidget()
        self.variables.setHeaderLabels(["Variable", "Contents"])
        self.variables.setRootIsDecorated(False)
        self.variables.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.variables.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.variables.currentItemChanged.connect(self._look_at_variable)
        self.variables.itemDoubleClicked.connect(self.add)
        layout.addWidget(self.variables, 1)
        layout.addWidget(self._build_options())
        self.progress = QProgressBar()
        self.progress.setRange(0, 0)
        self.progress.hide()
        layout.addWidget(self.progress)
        self.message = QLabel()
        self.message.setWordWrap(True)
        self.message.setTextFormat(Qt.TextFormat.PlainText)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        whole.addWidget(self.message)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.add_button = self.buttons.addButton("&Add", QDialogButtonBox.ButtonRole.ActionRole)
        self.add_button.clicked.connect(self.add)
        self.add_button.setEnabled(False)
        self.buttons.rejected.connect(self.reject)
        whole.addWidget(self.buttons)

    def _build_installation(self):
        """What stands in place of all else where the driver is missing."""
        self.installation = QWidget()
        layout = QVBoxLayout(self.installation)
        layout.setContentsMargins(0, 0, 0, 0)
        self.instructions = QPlainTextEdit()
        self.instructions.setReadOnly(True)
        choose = QPushButton("Choose the file of the driver…")
        choose.clicked.connect(self._choose_driver)
        layout.addWidget(self.instructions)
        layout.addWidget(choose, 0, Qt.AlignmentFlag.AlignLeft)
        return self.installation

    def _build_source(self):
        self.source = QComboBox()
        self.source.setEditable(True)
        self.source.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.source.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.source.setMinimumContentsLength(40)
        self.source.addItems(QgsSettings().value(RECENT, [], type=list) or [])
        self.source.setCurrentText("")
        self.source.lineEdit().setPlaceholderText("Source")
        self.source.setToolTip(HINT)
        self.source.lineEdit().returnPressed.connect(self.list_variables)
        self.source.activated.connect(self.list_variables)
        browse = QToolButton()
        browse.setText("Browse…")
        browse.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(browse)
        menu.addAction("File…", self._choose_file)
        menu.addAction("Folder or repository…", self._choose_folder)
        browse.setMenu(menu)
        self.list_button = QPushButton("&List variables")
        self.list_button.setDefault(True)
        self.list_button.clicked.connect(self.list_variables)
        layout, line = QVBoxLayout(), QHBoxLayout()
        for widget, stretch in (self.source, 1), (browse, 0), (self.list_button, 0):
            line.addWidget(widget, stretch)
        hint = QLabel(HINT)
        hint.setWordWrap(True)
        hint.setEnabled(False)
        layout.addLayout(line)
        layout.addWidget(hint)
        return layout

    def _build_options(self):
        """Dimensions of the variable, and what holds for all; it scrolls, so that the dialog stays on the screen."""
        content = QWidget()
        self.form = QFormLayout(content)
        self.times = QComboBox()
        self.times.addItem("One layer with all times", False)
        self.times.addItem("A layer for each time, for QGIS before 3.38 without this plugin", True)
        self.longitudes = QComboBox()
        for text, value in (("From -180 where the grid crosses 180", None), ("From -180", "-180"), ("From 0", "0"), ("As they are stored", "AS_IS")):
            self.longitudes.addItem(text, value)
        self.form.addRow("Times", self.times)
        self.form.addRow("Longitudes", self.longitudes)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidget(content)
        area.setMinimumHeight(90)
        area.setMaximumHeight(150)
        return area

    # -- the driver -------------------------------------------------------------------------------

    def _look_for_driver(self):
        found = find_driver()
        self.installation.setVisible(not found)
        self.body.setVisible(found)
        self.add_button.setVisible(found)
        if not found:
            self.instructions.setPlainText(driver.how_to_install())

    def _choose_driver(self):
        path, _ = QFileDialog.getOpenFileName(self, "The driver", "", f"GDAL plugin ({' '.join(driver.FILES)})")
        if not path:
            return
        failure = driver.load_from(os.path.dirname(path))
        if failure is None:
            QgsSettings().setValue(DRIVER_FOLDER, os.path.dirname(path))
        self.message.setText(failure or "")
        self._look_for_driver()

    # -- the source -------------------------------------------------------------------------------

    def _choose_file(self):
        path, _ = QFileDialog.getOpenFileName(self, "A set or a data file", self.source.currentText())
        self._use(path)

    def _choose_folder(self):
        self._use(QFileDialog.getExistingDirectory(self, "A folder of files, a Parquet set or an Icechunk repository",
                                                    self.source.currentText()))

    def _use(self, path):
        if path:
            self.source.setCurrentText(path)
            self.list_variables()

    def _remember(self, text):
        recent = [text] + [one for one in QgsSettings().value(RECENT, [], type=list) or [] if one != text]
        QgsSettings().setValue(RECENT, recent[:MOST_RECENT])

    def list_variables(self):
        text = self.source.currentText().strip()
        if not text or not driver.is_there():
            return
        self.variables.clear()
        self._start(f"List the variables of {text}", lambda: source.variables_of(text), self._show_variables)

    def _show_variables(self, result):
        variables, warnings = result
        self._remember(self.source.currentText().strip())
        for one in variables:
            path = f"{one.asset}: {one.name.path}" if one.asset else one.name.path
            item = QTreeWidgetItem([path, one.text])
            item.setData(0, VARIABLE, one.name)
            self.variables.addTopLevelItem(item)
        self.message.setText("\n".join(warnings[:3]))
        self.variables.setCurrentItem(self.variables.topLevelItem(0))

    # -- the variable -----------------------------------------------------------------------------

    def _chosen_name(self):
        item = self.variables.currentItem()
        return item.data(0, VARIABLE) if item is not None else None

    def _look_at_variable(self):
        for box in self._choices.values():
            self.form.removeRow(box)
        self._choices = {}
        name = self._chosen_name()
        self.add_button.setEnabled(False)
        if name is not None:
            self._start(f"Open {name}", lambda: source.dimensions_of(name), self._show_dimensions)

    def _show_dimensions(self, dimensions):
        for number, one in enumerate(dimensions):
            box = QComboBox()
            box.addItems([f"{value} {one.unit}".strip() for value in one.values])
            self.form.insertRow(number, one.name, box)
            self._choices[one.name] = box
        self.add_button.setEnabled(True)

    def add(self):
        name = self._chosen_name()
        if name is None or not self.add_button.isEnabled():
            return
        name = name.select(*[f"{dimension}=#{box.currentIndex()}" for dimension, box in self._choices.items()])
        longitudes, each_time = self.longitudes.currentData(), self.times.currentData()
        self.add_button.setEnabled(False)
        self._start(f"Read samples of {name}", lambda: source.describe(name, longitudes), lambda raster: self._choose(raster, each_time))

    def _choose(self, raster, each_time):
        self.add_button.setEnabled(True)
        self.chosen.emit(raster, each_time)
        self.message.setText(f"{raster.title} was added")

    # -- tasks ------------------------------------------------------------------------------------

    def _start(self, text, work, show):
        """Runs `work` in a thread, and `show` with its result in this one, unless something else was started since."""
        self.message.setText(text)
        self.progress.show()

        def finished(error, result=()):
            if self._task is not task:
                return
            self._task = None
            self.progress.hide()
            if error is None:
                self.message.setText("")
                show(*result)
            else:
                self.message.setText(str(error))
                self.add_button.setEnabled(self._chosen_name() is not None)

        task = QgsTask.fromFunction(text, lambda _: (work(),), on_finished=finished)
        self._task = task
        QgsApplication.taskManager().addTask(task)

    def is_busy(self):
        return self._task is not None
